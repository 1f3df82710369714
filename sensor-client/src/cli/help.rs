//! The parts of the help that teach.

pub const EXIT_CODES: &str = "\
Exit codes:
  0    done (wait: the conditions hold; report: all is taken, pending, there already or ignored)
  1    report: some were refused, or in conflict
  2    bad usage, or the agent refused the request (assets state: also an unknown asset)
  69   no agent answered within --connect-timeout
  74   the output could not be written
  124  timed out
  130  interrupted";

pub const WAIT: &str = "`asset-sensor wait --help` has examples.";

pub const WAIT_LONG: &str = "\
While it waits it says on stderr what is missing. An agent that stops or is away does not end the
wait: it is looked for until the timeout, and the same wait goes on. When the conditions hold, the
versions to read are printed on stdout.

Examples:
  Wait until a table has data:
    asset-sensor wait --asset paimon://ods/orders

  Wait at most an hour for snapshot 42 of one table and for a new version of another:
    asset-sensor wait --timeout 1h \\
      --asset paimon://ods/orders --min-snapshot 42 \\
      --asset paimon://ods/users --since registered --alias users

  Either of two groups of conditions:
    asset-sensor wait --condition-file - <<'END'
    {\"groups\": [
      {\"name\": \"daily\", \"conditions\": [{\"assetKey\": \"paimon://ods/orders\", \"minSnapshotId\": 42}]},
      {\"name\": \"backup\", \"conditions\": [{\"assetKey\": \"paimon://ods/orders_copy\", \"snapshotRequired\": true}]}
    ]}
    END

  As a SHELL task of DolphinScheduler; later tasks read ${asset_orders_snapshot_id}:
    asset-sensor wait --output dolphinscheduler --asset paimon://ods/orders --since registered \\
      --project ${system.project.code} --workflow ${system.workflow.definition.code} \\
      --task-code ${system.task.definition.code} --instance ${system.workflow.instance.id} \\
      --task \"${system.task.definition.name}\"

Exit codes:
  0    the conditions hold
  2    bad usage, or the agent refused the request
  69   no agent answered within --connect-timeout
  74   the output could not be written
  124  timed out
  130  interrupted";

pub const REPORT: &str = "\
A report of a table that the agent reads is a hint: it looks at once, and counts what it finds.
A verdict on a version that was not seen yet is kept until it is, for a day.

Examples:
  A check of snapshot 42 passed:
    asset-sensor report quality --asset paimon://ods/orders --snapshot 42 --status PASSED

  Look at a table now, since snapshot 43 was just committed:
    asset-sensor report snapshot --asset paimon://ods/orders --snapshot 43

  Many events from a file, one JSON object a line:
    asset-sensor report file - <<'END'
    {\"assetKey\": \"paimon://ods/orders\", \"eventType\": \"QUALITY_CHECK_FAILED\", \"eventId\": \"c-7\", \"snapshotId\": 43}
    END

Times are RFC 3339, epoch milliseconds or a date such as 20261130 (its first moment in UTC).";

pub const WATCH: &str = "\
Examples:
  asset-sensor watch                         all assets
  asset-sensor watch 'paimon://lake/ods/*'   all tables of one database (quote the star)";

pub const COMPLETION: &str = "\
Example:
  asset-sensor completion bash > /etc/bash_completion.d/asset-sensor";
