#[test] fn y() {}
