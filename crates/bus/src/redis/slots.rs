//! In which of a cluster's slots topics are.
//!
//! All that belongs to a topic, and the leases and marks that its scripts look at, must be in one slot, and a script may
//! look at no other. So topics are divided into so many partitions, each of which has a slot of its own, far from the next
//! one's, and is what a server of its own is without a cluster.

/// The slots of every cluster.
pub(crate) const SLOTS: u16 = 16_384;
/// Into how many partitions topics are divided; as many masters have something to do at most. All nodes must agree.
pub(crate) const PARTITIONS: usize = 16;

const SLOTS_PER_PARTITION: u16 = SLOTS / PARTITIONS as u16;

/// What stands between braces in the names of a partition's keys: the smallest number whose slot is in the partition's part
/// of all slots, so that the partitions are spread over masters that divide the slots in order.
pub(crate) fn tag(partition: usize) -> String {
    let mut tags = (0u32..).map(|number| number.to_string());
    tags.find(|tag| usize::from(slot(tag) / SLOTS_PER_PARTITION) == partition)
        .expect("every slot has numbers")
}

/// The slot of what has this between its braces: CRC-16/XMODEM, as Redis Cluster's specification says.
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
        // `CLUSTER KEYSLOT` of a Redis 7.0 says the same.
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
        // A node of another build must find the same.
        assert_eq!([&*tags[0], &*tags[15]], ["10", "40"]);
    }
}
