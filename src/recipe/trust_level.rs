//! Who stands for a recipe.

use serde::{Deserialize, Serialize};

/// Who stands for a recipe. Stands in no file: the registry alone says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Nobody, and it claims nothing.
    #[default]
    Unknown,
    /// Nobody, though its file says that it was proven.
    Claimed,
    /// It comes with the program.
    Library,
    /// It was learned here and not proven: its request was replayed as one that reads.
    Learned,
    /// A person looked at it and said so.
    Person,
    /// Its examples were proven here; no page was seen that makes its request.
    Examples,
    /// It was learned and proven here, or is of the library and was proven here.
    Proven,
}

impl Trust {
    /// Whether nobody here stands for it.
    pub const fn is_untrusted(self) -> bool {
        matches!(self, Self::Unknown | Self::Claimed)
    }

    /// Whether its words may be a stranger's: a proof says nothing of them.
    pub const fn has_untrusted_text(self) -> bool {
        self.is_untrusted() || matches!(self, Self::Examples)
    }

    /// Whether learning here judged its request to read, or it comes with the program.
    pub const fn is_known_to_read(self) -> bool {
        matches!(self, Self::Library | Self::Learned | Self::Proven)
    }

    /// What it is once its examples were proven here.
    #[must_use]
    pub const fn after_proof(self) -> Self {
        if self.is_known_to_read() { Self::Proven } else { Self::Examples }
    }

    /// What a copy of such a recipe is, which is a draft.
    #[must_use]
    pub const fn for_copy(self) -> Self {
        match self {
            Self::Proven => Self::Learned,
            Self::Claimed | Self::Examples => Self::Unknown,
            it => it,
        }
    }
}
