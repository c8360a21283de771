//! The slots of a cluster in which topics are stored.
//!
//! Everything that belongs to a topic, and the leases and marks that its scripts access, must be in one slot, and a
//! script must not access any other. So topics are distributed over partitions. Each has a slot of its own, spread
//! evenly over the slot range, and plays the role of a separate server.

/// Number of slots of every cluster.
pub(crate) const SLOTS: u16 = 16_384;
/// Number of partitions over which topics are distributed; at most this many masters get work. All nodes must agree.
pub(crate) const PARTITIONS: usize = 16;

const SLOTS_PER_PARTITION: u16 = SLOTS / PARTITIONS as u16;

/// Returns the hash tag in the names of a partition's keys: the smallest number whose slot is in the partition's part
/// of the slot range, so that the partitions are spread over masters that divide the slots in order.
pub(crate) fn tag(partition: usize) -> String {
    let mut tags = (0u32..).map(|number| number.to_string());
    tags.find(|tag| usize::from(slot(tag) / SLOTS_PER_PARTITION) == partition)
        .expect("every slot has numbers")
}

/// Returns the slot of a hash tag: CRC-16/XMODEM, as in Redis Cluster's specification.
pub(crate) fn slot(tag: &str) -> u16 {
    let bit = |crc: u16| (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 };
    let byte = |crc: u16, byte: u8| (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| bit(crc));
    tag.bytes().fold(0, byte) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        // `CLUSTER KEYSLOT` of a Redis 7.0 returns the same.
        assert_eq!(slot("123456789"), 0x31C3 % SLOTS);
        assert_eq!(slot("foo"), 12182);
        assert_eq!(slot(""), 0);
    }

    #[test]
    fn each_partition_has_a_slot_in_its_own_part() {
        let tags: Vec<String> = (0..PARTITIONS).map(tag).collect();
        for (partition, tag) in tags.iter().enumerate() {
            assert_eq!(usize::from(slot(tag)) * PARTITIONS / usize::from(SLOTS), partition, "{tag}");
        }
        // A node of another build must compute the same.
        assert_eq!([&*tags[0], &*tags[15]], ["10", "40"]);
    }
}
