//! What a verdict says to people, in English and in Chinese.

use crate::{
    asset::Unread,
    condition::Match,
    facts::BackfillStatus,
    reason::{Reason, Wanted},
    time::{show_distance, show_moment},
    version::Millis,
};

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// The first language of a list as HTTP's `Accept-Language` has it that is spoken here, else English.
    pub fn accepted(list: &str) -> Self {
        let first = list.split(',').find_map(|tag| {
            let name = tag.split(';').next().unwrap_or_default().trim();
            match name.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "zh" => Some(Self::Chinese),
                "en" => Some(Self::English),
                _ => None,
            }
        });
        first.unwrap_or_default()
    }

    fn says(self, english: &str, chinese: &str) -> String {
        match self {
            Self::English => english.to_owned(),
            Self::Chinese => chinese.to_owned(),
        }
    }
}

use Language::{Chinese, English};

/// Where the way out of [`Unread`] is.
fn unread_found(why: &Unread, language: Language) -> String {
    match why {
        Unread::NoCatalog | Unread::NotListed => language.says("no asset of this key", "没有这个 key 的资产"),
        Unread::PollingOff | Unread::NotYet => {
            language.says("a table that was not read yet", "一张尚未读取的表")
        }
        Unread::Failing(error) => match language {
            English => format!("a table that can't be read ({error})"),
            Chinese => format!("一张无法读取的表（{error}）"),
        },
    }
}

fn unread_missing(why: &Unread, language: Language) -> String {
    match why {
        Unread::NoCatalog => language.says(
            "a catalog of the agent's configuration that has this table",
            "Agent 的配置中包含这张表的目录",
        ),
        Unread::NotListed => language.says(
            "this table in `tables` of its catalog, or `discover: true` there",
            "在其目录的 `tables` 中列出这张表，或在那里设置 `discover: true`",
        ),
        Unread::PollingOff => language.says(
            "an agent that reads tables: its configuration has `paimon-polling.enabled: false`",
            "会读取表的 Agent：当前配置为 `paimon-polling.enabled: false`",
        ),
        Unread::NotYet => language.says("the table's first read, which is due", "对该表的首次读取，即将进行"),
        Unread::Failing(_) => language.says("a table that can be read", "一张可以读取的表"),
    }
}

fn backfill(status: BackfillStatus, language: Language) -> String {
    match status {
        BackfillStatus::None => language.says("no backfill so far", "从未有过回填"),
        BackfillStatus::Running => language.says("a backfill that is running", "正在进行的回填"),
        BackfillStatus::Completed => language.says("backfills that are all completed", "全部完成的回填"),
    }
}

impl Reason {
    /// What the asset has.
    pub fn found(&self, language: Language) -> String {
        match (self, language) {
            (Self::Unread(why), _) => unread_found(why, language),
            (Self::TableAbsent, _) => language.says("no such table in its catalog", "目录中没有这张表"),
            (Self::NoSnapshot, _) => language.says("a table without a snapshot", "一张没有快照的表"),
            (
                Self::BelowMinSnapshot { found, head: Some(head), .. }
                | Self::NotNewer { found, head: Some(head) },
                _,
            ) => match language {
                English => format!("data snapshot {found} (newer ones up to {head} brought no data)"),
                Chinese => format!("数据快照 {found}（之后直到 {head} 都没有新数据）"),
            },
            (Self::CommittedEarly { found, committed: Some(at), .. }, English) => {
                format!("snapshot {found}, committed {}", show_moment(*at))
            }
            (Self::CommittedEarly { found, committed: Some(at), .. }, Chinese) => {
                format!("快照 {found}，提交于 {}", show_moment(*at))
            }
            (Self::CommittedEarly { found, committed: None, .. }, English) => {
                format!("snapshot {found} without a commit time")
            }
            (Self::CommittedEarly { found, committed: None, .. }, Chinese) => {
                format!("快照 {found}，没有提交时间")
            }
            (
                Self::BelowWatermark { found, watermark, .. } | Self::WatermarkLags { found, watermark, .. },
                _,
            ) => match (watermark, language) {
                (Some(mark), English) => format!("snapshot {found} with watermark {}", show_moment(*mark)),
                (Some(mark), Chinese) => format!("快照 {found}，水位线为 {}", show_moment(*mark)),
                (None, English) => format!("snapshot {found} without a watermark"),
                (None, Chinese) => format!("快照 {found}，没有水位线"),
            },
            (Self::OtherQuality { found, said: None, .. }, English) => {
                format!("snapshot {found}, which no check spoke about")
            }
            (Self::OtherQuality { found, said: None, .. }, Chinese) => {
                format!("快照 {found}，尚无质量检查结果")
            }
            (Self::OtherQuality { found, said: Some((quality, at, by)), .. }, _) => {
                let (quality, at) = (quality.as_str(), show_moment(*at));
                match language {
                    English => format!("snapshot {found} with quality {quality} ({by}, {at})"),
                    Chinese => format!("快照 {found}，质量为 {quality}（{by}，{at}）"),
                }
            }
            (Self::OtherSchemaStatus { found, schema, status, .. }, _) => match (schema, status, language) {
                (Some(schema), Some(status), English) => {
                    format!("snapshot {found} with schema {schema}, which is {}", status.as_str())
                }
                (Some(schema), Some(status), Chinese) => {
                    format!("快照 {found}，schema {schema} 的状态为 {}", status.as_str())
                }
                (_, _, English) => format!("snapshot {found} that does not say its schema"),
                (_, _, Chinese) => format!("快照 {found}，未说明 schema"),
            },
            (Self::NoTag { latest: Some(latest), .. }, English) => {
                format!("other tags, the latest is {latest}")
            }
            (Self::NoTag { latest: Some(latest), .. }, Chinese) => {
                format!("只有其他标签，最新的是 {latest}")
            }
            (Self::NoTag { latest: None, .. }, _) => language.says("no tag", "没有标签"),
            (Self::OtherBackfillStatus { found, .. }, _) => backfill(*found, language),
            (Self::DuringBackfill { found, backfill }, English) => {
                format!("snapshot {found}, committed during backfill {backfill}")
            }
            (Self::DuringBackfill { found, backfill }, Chinese) => {
                format!("快照 {found}，在回填 {backfill} 期间提交")
            }
            (Self::OnlyReported { found, .. }, English) => {
                format!("snapshot {found}, known by a report only")
            }
            (Self::OnlyReported { found, .. }, Chinese) => format!("快照 {found}，仅由上报得知"),
            (Self::NotReadable { found }, English) => format!("snapshot {found}, which has expired"),
            (Self::NotReadable { found }, Chinese) => format!("快照 {found}，已过期"),
            (Self::TableGone { .. }, _) => {
                language.says("a table that is gone from its catalog", "一张已从目录中消失的表")
            }
            (
                Self::BelowMinSnapshot { found, .. }
                | Self::NotNewer { found, .. }
                | Self::AgentPaused { found },
                _,
            ) => match language {
                English => format!("snapshot {found}"),
                Chinese => format!("快照 {found}"),
            },
        }
    }

    /// What is missing for the condition to hold.
    pub fn missing(&self, language: Language) -> String {
        match (self, language) {
            (Self::Unread(why), _) => unread_missing(why, language),
            (Self::TableAbsent, _) => {
                language.says("the table and its first snapshot", "这张表及其第一个快照")
            }
            (Self::NoSnapshot, _) => language.says("the first snapshot", "第一个快照"),
            (Self::BelowMinSnapshot { wanted, found, .. }, English) => {
                format!("{} behind", wanted.saturating_sub(*found))
            }
            (Self::BelowMinSnapshot { wanted, found, .. }, Chinese) => {
                format!("还差 {}", wanted.saturating_sub(*found))
            }
            (Self::NotNewer { .. }, _) => {
                language.says("a newer snapshot with data", "更新的、带有数据的快照")
            }
            (Self::CommittedEarly { wanted, committed: Some(at), .. }, English) => {
                format!("a later commit, this one was {} too early", show_distance(*at, *wanted))
            }
            (Self::CommittedEarly { wanted, committed: Some(at), .. }, Chinese) => {
                format!("更晚的提交，当前提交早了 {}", show_distance(*at, *wanted))
            }
            (Self::CommittedEarly { committed: None, .. }, _) => {
                language.says("a commit that says when it was made", "带有提交时间的提交")
            }
            (Self::BelowWatermark { wanted, watermark: Some(mark), .. }, English) => {
                format!("{} behind", show_distance(*mark, *wanted))
            }
            (Self::BelowWatermark { wanted, watermark: Some(mark), .. }, Chinese) => {
                format!("还差 {}", show_distance(*mark, *wanted))
            }
            (Self::WatermarkLags { max_seconds, watermark: Some(mark), now, .. }, _) => {
                let lag = show_distance(*mark, *now);
                let most = show_distance(0, max_seconds.saturating_mul(1_000));
                match language {
                    English => format!("a newer watermark, this one lags {lag} where {most} is the most"),
                    Chinese => format!("更新的水位线，当前落后 {lag}，最多允许 {most}"),
                }
            }
            (
                Self::BelowWatermark { watermark: None, .. } | Self::WatermarkLags { watermark: None, .. },
                _,
            ) => language.says(
                "a first watermark: does the job that writes this table set one?",
                "第一个水位线：写这张表的作业是否设置了水位线？",
            ),
            (Self::OtherQuality { found, wanted, .. }, English) => {
                format!("a check that reports {} for snapshot {found}", wanted.as_str())
            }
            (Self::OtherQuality { found, wanted, .. }, Chinese) => {
                format!("针对快照 {found} 上报 {} 的质量检查", wanted.as_str())
            }
            (Self::OtherSchemaStatus { schema: None, .. }, _) => language
                .says("a snapshot that says which schema it was written with", "说明了写入 schema 的快照"),
            (Self::OtherSchemaStatus { wanted, schema: Some(schema), .. }, English) => {
                format!("schema {schema} as {} (`asset-sensor report schema`)", wanted.as_str())
            }
            (Self::OtherSchemaStatus { wanted, schema: Some(schema), .. }, Chinese) => {
                format!("schema {schema} 的状态变为 {}（`asset-sensor report schema`）", wanted.as_str())
            }
            (Self::NoTag { wanted, .. }, English) => format!("a tag {wanted}"),
            (Self::NoTag { wanted, .. }, Chinese) => format!("标签 {wanted}"),
            (Self::OtherBackfillStatus { wanted, .. }, _) => backfill(*wanted, language),
            (Self::DuringBackfill { .. }, _) => {
                language.says("a snapshot that was not committed during a backfill", "不在回填期间提交的快照")
            }
            (Self::OnlyReported { .. }, _) => language.says(
                "an agent that reads the table itself: no catalog of its configuration has it",
                "由 Agent 亲自读取该表：其配置中没有包含这张表的目录",
            ),
            (Self::NotReadable { .. }, _) => {
                language.says("a snapshot that can be read", "一个可以读取的快照")
            }
            (Self::TableGone { .. }, _) => {
                language.says("the table, back in its catalog", "这张表重新出现在目录中")
            }
            (Self::AgentPaused { .. }, _) => language.says(
                "an agent that releases: its configuration has `enabled: false`",
                "会放行的 Agent：当前配置为 `enabled: false`",
            ),
        }
    }
}

impl Wanted {
    /// What is wanted, in a few words.
    pub fn words(&self, language: Language) -> String {
        let subject = match (self.min_snapshot_id, self.matching) {
            (Some(min), _) => match language {
                English => format!("snapshot >= {min}"),
                Chinese => format!("快照 >= {min}"),
            },
            (None, Match::Head) => language.says("a snapshot", "快照"),
            (None, Match::Newest) => language.says("any snapshot", "任一快照"),
        };
        let rest = self.clauses(language);
        match (language, self.min_snapshot_id, rest.is_empty()) {
            (_, _, true) => subject,
            (English, None, false) => format!("{subject} {}", rest.join(" and ")),
            (English, Some(_), false) => format!("{subject} and {}", rest.join(" and ")),
            (Chinese, _, false) => format!("{subject}，{}", rest.join("，")),
        }
    }

    fn clauses(&self, language: Language) -> Vec<String> {
        let mut clauses = Vec::new();
        let mut say = |english: String, chinese: String| {
            clauses.push(match language {
                English => english,
                Chinese => chinese,
            });
        };
        match self.newer_than {
            Some(Some(id)) => say(
                format!("newer than {id}, the head when the wait began"),
                format!("新于等待开始时的最新快照 {id}"),
            ),
            Some(None) => say(
                "newer than the head when the wait began".to_owned(),
                "新于等待开始时的最新快照".to_owned(),
            ),
            None => {}
        }
        if let Some(at) = self.committed_after.map(show_moment) {
            say(format!("committed at {at} or later"), format!("提交时间不早于 {at}"));
        }
        if let Some(mark) = self.watermark_gte.map(show_moment) {
            say(format!("with watermark >= {mark}"), format!("水位线 >= {mark}"));
        }
        if let Some(seconds) = self.max_watermark_lag_seconds {
            let lag = show_distance(0, Millis::saturating_mul(seconds, 1_000));
            say(format!("with a watermark at most {lag} old"), format!("水位线落后不超过 {lag}"));
        }
        if let Some(quality) = self.quality {
            say(format!("with quality {}", quality.as_str()), format!("质量为 {}", quality.as_str()));
        }
        if let Some(schema) = self.schema {
            say(
                format!("with a schema that is {}", schema.as_str()),
                format!("schema 状态为 {}", schema.as_str()),
            );
        }
        if let Some(tag) = &self.tag {
            say(format!("with tag {}", tag.as_str()), format!("带有标签 {}", tag.as_str()));
        }
        if let Some(status) = self.backfill {
            say(format!("with backfills {}", status.as_str()), format!("回填状态为 {}", status.as_str()));
        }
        if self.ignore_backfill {
            say("not of a backfill".to_owned(), "不属于回填".to_owned());
        }
        if let Some(assurance) = self.assurance {
            say(format!("that is {}", assurance.as_str()), format!("可信度为 {}", assurance.as_str()));
        }
        clauses
    }
}

/// One condition's verdict in one sentence.
pub fn sentence(asset: &str, wanted: &Wanted, verdict: Result<i64, &Reason>, language: Language) -> String {
    let wanted = wanted.words(language);
    match (verdict, language) {
        (Ok(pinned), English) => format!("{asset}: needs {wanted}, has snapshot {pinned}"),
        (Ok(pinned), Chinese) => format!("{asset}：需要{wanted}；现有快照 {pinned}"),
        (Err(reason), English) => format!(
            "{asset}: needs {wanted}, has {}; missing: {}",
            reason.found(language),
            reason.missing(language)
        ),
        (Err(reason), Chinese) => format!(
            "{asset}：需要{wanted}；现有{}；缺少：{}",
            reason.found(language),
            reason.missing(language)
        ),
    }
}

#[cfg(test)]
mod tests;
