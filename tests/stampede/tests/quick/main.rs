//! What needs nothing but Stampede itself: it is measured by servers and a proxy in the test's process.
