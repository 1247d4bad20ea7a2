//! Where each MCP client keeps its servers. A client more is a row more.
//!
//! Read in November 2026 in each client's own documentation; Claude Code 2.1, Codex 0.169 and Gemini CLI 0.61 were also asked
//! what they had read from such a file. Absent on purpose: what one can only be told by its own command, or where versions in
//! use disagree about the file.

use std::path::{Path, PathBuf};

use commis_base::{error::Result, settings::UserFolders};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With comments and trailing commas where there are some.
    Json,
    Toml,
}

/// What a path begins at.
#[derive(Clone, Copy, Debug)]
enum Base {
    Home,
    /// `XDG_CONFIG_HOME` on Linux, `~/Library/Application Support` on macOS: what Electron calls `appData`.
    AppData,
    /// `XDG_CONFIG_HOME`, `~/.config` on macOS as well.
    Config,
}

/// One client.
#[derive(Debug)]
pub struct Client {
    /// As `--client` takes it.
    pub id: &'static str,
    pub title: &'static str,
    pub format: Format,
    /// The table of servers in the file.
    pub key: &'static str,
    /// Whether an entry says `"type": "stdio"`.
    pub typed: bool,
    user: (Base, &'static str),
    /// The client's own variable, and what it names: the file under it, or itself if that is empty.
    variable: Option<(&'static str, &'static str)>,
    /// Below the project's folder.
    project: Option<&'static str>,
    /// What a person has to do before it counts; empty: the client looks by itself, or at its next start.
    pub then: &'static str,
}

pub const CLIENTS: &[Client] = &[
    // code.claude.com/docs/en/mcp: scopes and their files; `claude mcp add` writes the type.
    Client {
        id: "claude-code",
        title: "Claude Code",
        format: Format::Json,
        key: "mcpServers",
        typed: true,
        user: (Base::Home, ".claude.json"),
        variable: Some(("CLAUDE_CONFIG_DIR", ".claude.json")),
        project: Some(".mcp.json"),
        then: "",
    },
    // modelcontextprotocol.io/docs/develop/connect-local-servers; an Electron program, so its folder on Linux follows XDG.
    Client {
        id: "claude-desktop",
        title: "Claude Desktop",
        format: Format::Json,
        key: "mcpServers",
        typed: false,
        user: (Base::AppData, "Claude/claude_desktop_config.json"),
        variable: None,
        project: None,
        then: "quit Claude Desktop and open it again",
    },
    // cursor.com/docs/mcp.
    Client {
        id: "cursor",
        title: "Cursor",
        format: Format::Json,
        key: "mcpServers",
        typed: false,
        user: (Base::Home, ".cursor/mcp.json"),
        variable: None,
        project: Some(".cursor/mcp.json"),
        then: "",
    },
    // code.visualstudio.com/docs/agents/reference/mcp-configuration: `servers`, in the workspace and in the user's profile. The
    // default profile's folder is `Code/User`.
    Client {
        id: "vscode",
        title: "VS Code",
        format: Format::Json,
        key: "servers",
        typed: true,
        user: (Base::AppData, "Code/User/mcp.json"),
        variable: None,
        project: Some(".vscode/mcp.json"),
        then: "",
    },
    // developers.openai.com/codex/mcp: one file for the command line and the extension; a project's counts once it is trusted.
    Client {
        id: "codex",
        title: "Codex",
        format: Format::Toml,
        key: "mcp_servers",
        typed: false,
        user: (Base::Home, ".codex/config.toml"),
        variable: Some(("CODEX_HOME", "config.toml")),
        project: Some(".codex/config.toml"),
        then: "",
    },
    // docs/tools/mcp-server.md of its package. Comments in settings.json are allowed.
    Client {
        id: "gemini",
        title: "Gemini CLI",
        format: Format::Json,
        key: "mcpServers",
        typed: false,
        user: (Base::Home, ".gemini/settings.json"),
        variable: Some(("GEMINI_CLI_HOME", ".gemini/settings.json")),
        project: Some(".gemini/settings.json"),
        then: "",
    },
    // docs.windsurf.com/windsurf/cascade/mcp; none for a project.
    Client {
        id: "windsurf",
        title: "Windsurf",
        format: Format::Json,
        key: "mcpServers",
        typed: false,
        user: (Base::Home, ".codeium/windsurf/mcp_config.json"),
        variable: None,
        project: None,
        then: "press Refresh in Windsurf's MCP settings",
    },
    // zed.dev/docs/ai/mcp, "As Custom Servers"; the settings file is the same on both systems.
    Client {
        id: "zed",
        title: "Zed",
        format: Format::Json,
        key: "context_servers",
        typed: false,
        user: (Base::Config, "zed/settings.json"),
        variable: None,
        project: None,
        then: "",
    },
    // docs.cline.bot/mcp/mcp-overview: the file of its command line, which newer versions of the extension read, too.
    Client {
        id: "cline",
        title: "Cline",
        format: Format::Json,
        key: "mcpServers",
        typed: false,
        user: (Base::Home, ".cline/data/settings/cline_mcp_settings.json"),
        variable: Some(("CLINE_MCP_SETTINGS_PATH", "")),
        project: None,
        then: "",
    },
];

impl Client {
    /// The user's file. Fails with `SETTINGS_INVALID` without a home.
    pub fn user_file(&self) -> Result<PathBuf> {
        if let Some((variable, file)) = self.variable
            && let Some(named) = UserFolders::from_variable(variable)
        {
            return Ok(if file.is_empty() { named } else { named.join(file) });
        }
        let folders = UserFolders::find()?;
        let (base, file) = self.user;
        let base = match base {
            Base::Home => folders.home,
            Base::AppData if cfg!(target_os = "macos") => {
                folders.home.join("Library/Application Support")
            }
            Base::Config if cfg!(target_os = "macos") => folders.home.join(".config"),
            Base::AppData | Base::Config => folders.config,
        };
        Ok(base.join(file))
    }

    /// The file of a project; `None`: the client has none.
    pub fn project_file(&self, folder: &Path) -> Option<PathBuf> {
        self.project.map(|it| folder.join(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_apart_and_stay_below_their_folder() {
        for (n, it) in CLIENTS.iter().enumerate() {
            assert!(CLIENTS[..n].iter().all(|other| other.id != it.id), "{}", it.id);
            for file in [Some(it.user.1), it.project].into_iter().flatten() {
                assert!(Path::new(file).is_relative() && !file.contains(".."), "{file}");
                let toml = Path::new(file).extension().is_some_and(|it| it == "toml");
                assert_eq!(toml, it.format == Format::Toml, "{file}");
            }
        }
    }
}
