#[test]
fn y() {}
