"""The messenger on this machine: what is durable and how fast, what people and communities cost who do nothing."""
