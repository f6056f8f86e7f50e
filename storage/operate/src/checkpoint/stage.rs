//! The stages of taking a checkpoint.

till_domain::word_enum! {
    /// The last completed stage of taking a checkpoint.
    pub enum CheckpointStage {
        /// The directories in which it is made exist.
        Begun,
        /// The database's files are linked.
        DatabaseLinked,
        /// The books' files are linked, and writes to them go on.
        BooksLinked,
        /// The files are where checkpoints are kept.
        Moved,
        /// The copy was opened, and the heads of all its logs are noted.
        HeadsNoted,
        /// The copy has its high-water mark.
        Marked,
        /// Every file is on the disk, and the manifest too.
        Listed,
        /// The directory has its name.
        Named,
    }
}
