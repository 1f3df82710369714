//! Many rows for one table.
//!
//! Promises: however many rows there are, a few short statements write them, each prepared once for a
//! connection. PostgreSQL takes every column as one array; SQLite takes rows in statements of a few fixed
//! sizes. A statement with a place for each value would be parsed and planned anew for every number of
//! rows, which costs more than writing them.

use std::{borrow::Cow, fmt::Write as _};

use sqlx::{Arguments as _, AssertSqlSafe, postgres::PgArguments, sqlite::SqliteArguments};

use crate::{StoreError, database::Tx};

/// Rows of one statement on SQLite. The greatest stays below its limit of 32,766 bound values.
const SIZES: [usize; 4] = [128, 32, 8, 1];

/// Rows of one statement on PostgreSQL.
const ROWS_AN_ARRAY: usize = 10_000;

/// A column, with what its values are.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    /// BIGINT or TINYINT.
    Number(&'static str),
    /// VARCHAR, CHAR or TEXT.
    Text(&'static str),
    /// The database's time; rows have no value for it.
    Now(&'static str),
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// Of a [`Column::Number`].
    Number(Option<i64>),
    /// Of a [`Column::Text`].
    Text(Option<Cow<'a, str>>),
}

/// What happens to a row whose key is there already.
#[derive(Debug, Clone, Copy)]
pub enum OnConflict {
    /// The stored one stays.
    Keep(&'static [&'static str]),
    /// The new one takes its place.
    Replace(&'static [&'static str]),
}

/// Rows on their way into one table.
pub struct Bulk<'a> {
    table: &'static str,
    columns: &'static [Column],
    conflict: OnConflict,
    /// Row after row.
    values: Vec<Value<'a>>,
}

impl Column {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number(name) | Self::Text(name) | Self::Now(name) => name,
        }
    }

    fn has_value(self) -> bool {
        !matches!(self, Self::Now(_))
    }
}

impl<'a> Bulk<'a> {
    /// No rows.
    pub fn new(table: &'static str, columns: &'static [Column], conflict: OnConflict) -> Self {
        Self { table, columns, conflict, values: Vec::new() }
    }

    /// Adds a row: a value for every column that has one, in their order.
    pub fn push(&mut self, row: impl IntoIterator<Item = Value<'a>>) {
        let before = self.values.len();
        self.values.extend(row);
        debug_assert_eq!(self.values.len() - before, self.width(), "a row of {}", self.table);
    }

    /// Writes all rows.
    pub async fn write(self, tx: &mut Tx) -> Result<(), StoreError> {
        match tx {
            Tx::Sqlite(tx) => {
                let mut rest = self.values.as_slice();
                for size in SIZES {
                    let sql = self.sqlite(size);
                    while rest.len() >= size * self.width() {
                        let (rows, others) = rest.split_at(size * self.width());
                        let arguments = sqlite_arguments(rows)?;
                        sqlx::query_with(AssertSqlSafe(sql.clone()), arguments).execute(&mut **tx).await?;
                        rest = others;
                    }
                }
            }
            Tx::Postgres(tx) => {
                let sql = self.postgres();
                for rows in self.values.chunks(ROWS_AN_ARRAY * self.width()) {
                    let arguments = self.arrays(rows)?;
                    sqlx::query_with(AssertSqlSafe(sql.clone()), arguments).execute(&mut **tx).await?;
                }
            }
        }
        Ok(())
    }

    /// Values of a row.
    fn width(&self) -> usize {
        self.columns.iter().filter(|column| column.has_value()).count()
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name()).collect();
        names.join(", ")
    }

    fn sqlite(&self, rows: usize) -> String {
        let row: Vec<&str> = self
            .columns
            .iter()
            .map(|column| if column.has_value() { "?" } else { "CURRENT_TIMESTAMP" })
            .collect();
        let row = format!("({})", row.join(", "));
        let rows = vec![row.as_str(); rows].join(", ");
        format!("INSERT INTO {} ({}) VALUES {rows} {}", self.table, self.names(), self.on_conflict())
    }

    fn postgres(&self) -> String {
        let mut selected = String::new();
        let mut arrays = String::new();
        let mut aliases = String::new();
        let mut number = 0;
        for column in self.columns {
            let comma = if selected.is_empty() { "" } else { ", " };
            let kind = match column {
                Column::Now(_) => {
                    let _ = write!(selected, "{comma}CURRENT_TIMESTAMP");
                    continue;
                }
                Column::Number(_) => "BIGINT",
                Column::Text(_) => "TEXT",
            };
            number += 1;
            let _ = write!(selected, "{comma}c{number}");
            let comma = if number == 1 { "" } else { ", " };
            let _ = write!(arrays, "{comma}${number}::{kind}[]");
            let _ = write!(aliases, "{comma}c{number}");
        }
        format!(
            "INSERT INTO {} ({}) SELECT {selected} FROM unnest({arrays}) AS given ({aliases}) {}",
            self.table,
            self.names(),
            self.on_conflict()
        )
    }

    fn on_conflict(&self) -> String {
        match self.conflict {
            OnConflict::Keep(key) => format!("ON CONFLICT ({}) DO NOTHING", key.join(", ")),
            OnConflict::Replace(key) => {
                let sets: Vec<String> = self
                    .columns
                    .iter()
                    .map(|column| column.name())
                    .filter(|name| !key.contains(name))
                    .map(|name| format!("{name} = excluded.{name}"))
                    .collect();
                format!("ON CONFLICT ({}) DO UPDATE SET {}", key.join(", "), sets.join(", "))
            }
        }
    }

    /// An array for every column.
    fn arrays(&self, rows: &[Value<'_>]) -> Result<PgArguments, StoreError> {
        let mut arguments = PgArguments::default();
        let width = self.width();
        for (place, column) in self.columns.iter().filter(|column| column.has_value()).enumerate() {
            let values = rows.iter().skip(place).step_by(width);
            let added = match column {
                Column::Number(_) => arguments.add(values.map(Value::number).collect::<Vec<_>>()),
                _ => arguments.add(values.map(Value::text).collect::<Vec<_>>()),
            };
            added.map_err(|error| StoreError::Database(sqlx::Error::Encode(error)))?;
        }
        Ok(arguments)
    }
}

fn sqlite_arguments(rows: &[Value<'_>]) -> Result<SqliteArguments, StoreError> {
    let mut arguments = SqliteArguments::default();
    for value in rows {
        let added = match value {
            Value::Number(number) => arguments.add(*number),
            Value::Text(text) => arguments.add(text.as_ref().map(|text| text.clone().into_owned())),
        };
        added.map_err(|error| StoreError::Database(sqlx::Error::Encode(error)))?;
    }
    Ok(arguments)
}

impl Value<'_> {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => *number,
            Self::Text(_) => None,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => text.as_deref(),
            Self::Number(_) => None,
        }
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Number(Some(number))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        Self::Number(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(Cow::Borrowed(text)))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text.map(Cow::Borrowed))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Some(Cow::Owned(text)))
    }
}

impl From<Option<String>> for Value<'_> {
    fn from(text: Option<String>) -> Self {
        Self::Text(text.map(Cow::Owned))
    }
}
