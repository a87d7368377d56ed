//! Programs that show dtq at work: `quickstart`, the pair `producer` and `worker`, and `bench`.
