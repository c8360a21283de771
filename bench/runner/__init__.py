"""What `bench/run` is made of: servers, scenarios, samples, targets, report."""
