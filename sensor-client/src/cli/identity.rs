//! Who waits, from flags.

use asset_proto::v1::Wait;
use clap::Args;

use super::failure::Failure;

/// Who waits, in DolphinScheduler's terms: all of it or nothing.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Who waits (all of these, or none; in a SHELL task DolphinScheduler fills them in)"
)]
pub struct IdentityArgs {
    /// Name of the DolphinScheduler [default: default]
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// Project code: ${system.project.code}
    #[arg(long, value_name = "P", value_parser = code, allow_hyphen_values = true)]
    project: Option<i64>,
    /// Workflow definition code: ${system.workflow.definition.code}
    #[arg(long, value_name = "CODE", value_parser = code, allow_hyphen_values = true)]
    workflow: Option<i64>,
    /// Task definition code: ${system.task.definition.code}
    #[arg(long, value_name = "CODE", value_parser = code, allow_hyphen_values = true)]
    task_code: Option<i64>,
    /// Workflow instance id: ${system.workflow.instance.id}
    #[arg(long, value_name = "ID", value_parser = code, allow_hyphen_values = true)]
    instance: Option<i64>,
    /// Task name: ${system.task.definition.name}
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
}

impl IdentityArgs {
    /// The identity, where one was given.
    pub fn identity(&self) -> Result<Option<Wait>, Failure> {
        let task = self.task.clone().filter(|task| !task.is_empty());
        match (self.project, self.workflow, self.task_code, self.instance, task) {
            (Some(project), Some(workflow), Some(task_code), Some(instance), Some(task_name)) => {
                Ok(Some(Wait {
                    scheduler: self.scheduler.clone().unwrap_or_default(),
                    project_code: project,
                    workflow_definition_code: workflow,
                    task_definition_code: task_code,
                    workflow_instance_id: instance,
                    task_name,
                    wait_id: String::new(),
                }))
            }
            (None, None, None, None, None) if self.scheduler.is_none() && self.task.is_none() => Ok(None),
            (project, workflow, task_code, instance, task) => {
                let missing: Vec<_> = [
                    ("--project", project.is_none()),
                    ("--workflow", workflow.is_none()),
                    ("--task-code", task_code.is_none()),
                    ("--instance", instance.is_none()),
                    ("--task", task.is_none()),
                ]
                .into_iter()
                .filter_map(|(flag, missing)| missing.then_some(flag))
                .collect();
                Err(Failure::usage(format!(
                    "who waits is said with --project, --workflow, --task-code, --instance and --task together, or with none of them; missing: {}",
                    missing.join(", ")
                )))
            }
        }
    }
}

/// Reads a code or an id.
fn code(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(code) if code > 0 => Ok(code),
        _ => Err(format!("it must be a whole number from 1 to {}", i64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Probe {
        #[command(flatten)]
        identity: IdentityArgs,
    }

    fn read(line: &str) -> Result<Option<Wait>, String> {
        let args = std::iter::once("probe").chain(line.split_whitespace());
        Probe::try_parse_from(args)
            .map_err(|error| error.to_string())?
            .identity
            .identity()
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn an_identity_is_whole_or_absent() {
        assert_eq!(read(""), Ok(None));
        let whole = "--project 1 --workflow 2 --task-code 3 --instance 4 --task t";
        let wait = read(whole).expect("whole").expect("given");
        assert_eq!((wait.project_code, wait.workflow_definition_code, wait.task_definition_code), (1, 2, 3));
        assert_eq!((wait.workflow_instance_id, wait.task_name.as_str()), (4, "t"));
        assert_eq!(wait.scheduler, "");

        let error = read("--project 1 --instance 4").expect_err("partial");
        assert!(error.ends_with("missing: --workflow, --task-code, --task"), "{error}");
        let error = read("--scheduler x").expect_err("scheduler alone");
        assert!(error.contains("missing: --project, --workflow"), "{error}");
        let error = read("--task=").expect_err("empty task");
        assert!(error.ends_with("--instance, --task"), "{error}");
    }

    #[test]
    fn codes_are_positive() {
        for code in ["0", "-1", "x", "9223372036854775808"] {
            let error = read(&format!("--project {code}")).expect_err(code);
            assert!(error.contains("--project"), "{error}");
            assert!(error.contains("from 1 to 9223372036854775807"), "{error}");
        }
    }
}
