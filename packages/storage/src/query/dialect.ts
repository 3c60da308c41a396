import type { FactFilter } from '@perdure/ports'
import type { Compilable, Expression, OperationNodeSource, QueryCompiler, RawBuilder, SqlBool } from 'kysely'
import type { Pending } from '../program.ts'
import type { TextPart } from './text-ref.ts'

/** How the text of a query differs between databases. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  readonly compiler: QueryCompiler
  /** Whether a transaction locks the rows that it reads. SQLite has one writer. */
  readonly locksRows: boolean
  /** Writes a parameter as the planner of the database needs it. */
  parameter(marker: unknown): RawBuilder<unknown>
  /** Converts a value when it is bound: SQLite takes a list as a JSON array. */
  toValue(value: unknown): unknown
  /** Whether the column has one of the values of a list. */
  isOneOf(column: string, values: RawBuilder<unknown>): RawBuilder<SqlBool>
  /** Whether the column has one of the values that a subquery selects, which the database finds first. */
  isSelected(column: string, rows: Expression<unknown>): RawBuilder<SqlBool>
  /** Keeps the planner from using an index for the condition, so that it walks a list in its order. */
  unindexed(condition: RawBuilder<SqlBool>): RawBuilder<SqlBool>
  /** A column that a condition compares without its index. Partial indexes of SQLite state their conditions in this form. */
  hidden(column: string): RawBuilder<unknown>
  /**
   * The rows of an ordered query up to the one with which the named texts are longer than a page. SQLite needs no
   * condition, because it reads rows one by one.
   *
   * @param maxBytes replaces the bytes of a page
   */
  bounded<Row>(query: Expression<Row>, texts: readonly string[], maxBytes?: RawBuilder<unknown>): Built<Row>
  /** The earlier of an instant of this process and the clock of the database server, if there is one. */
  earlierClock(now: RawBuilder<number>): RawBuilder<number>
  /** The value under which an index holds a text: PostgreSQL limits the length of an entry. */
  indexed(text: string): string
  greatest(left: RawBuilder<unknown>, right: RawBuilder<unknown>): RawBuilder<unknown>
  /** The column by which a statement finds again the rows that it has selected: SQLite numbers them. */
  readonly rowId: 'key' | 'id'
  /** Joins a table for each row of the tables before it. PostgreSQL chooses the order by its statistics. */
  readonly orderedJoin: RawBuilder<unknown>
  /**
   * The ids of the rows of `table` that one step of the recursive query `name` reaches in any of several ways, each with
   * an alias of the table. PostgreSQL lets such a query refer to itself once.
   */
  reached(name: string, table: string, ways: Readonly<Record<string, RawBuilder<unknown>>>): RawBuilder<unknown>
  /** A lock that a transaction holds until it ends. SQLite has one writer. */
  lock(name: LockName): Query<object, unknown> | undefined
  /** A lock of one subject that a transaction holds until it ends. SQLite has one writer. */
  readonly lockSubject: Query<{ readonly subject: string }, unknown> | undefined
  /** A number in a column with JSON; null if there is none. */
  jsonNumber(column: string, member: string): RawBuilder<number | null>
  /** The number of the UTC day of an instant. */
  dayOf(at: RawBuilder<number>): RawBuilder<number>
  /** Whether only the statement failed (a constraint, a trigger, a missing table) and the database itself is fine. */
  isRejected(error: unknown): boolean
  readonly facts: FactDialect
  /** How rows refer to a run and to a session. */
  readonly run: RunReference
  readonly session: Reference<'session_key' | 'session_id'>
}

/** SQLite numbers runs and sessions, and refers to them by these numbers. */
export interface Reference<Column extends string> {
  /** The column of a row that refers to the run or session. */
  readonly column: Column
  /** The column of `runs` or `sessions` to which it refers. */
  readonly self: 'key' | 'id'
  /** The value of the column for an id. */
  of(id: Expression<string | null>): RawBuilder<never>
  /** The id to which the rows of a table refer. */
  idOf(table: string): RawBuilder<string>
}

export interface RunReference extends Reference<'run_key' | 'run_id'> {
  /** A condition on the id of a row of `runs`; `matches` compares a column. */
  has(matches: (column: string) => RawBuilder<SqlBool>): RawBuilder<SqlBool>
  /** A statement before the first row that refers to a run. */
  readonly enter?: Query<{ readonly id: string }, unknown>
  /** A statement after the last row that referred to a run was deleted. */
  readonly leave?: Query<{ readonly id: string }, unknown>
}

/**
 * What one transaction at a time may extend: the event log, the audit chain, the families of tokens, the files, and what
 * has a maximum number.
 */
export type LockName = 'log' | 'chain' | 'families' | 'files' | 'webhooks' | 'triggers' | 'fires'

/** How a database stores the words, tags and vectors of facts, and searches them. */
export interface FactDialect {
  /** The columns of a fact that hold its words: PostgreSQL has one, SQLite a table of words. */
  readonly columns: readonly 'words'[]
  toColumns(text: string): { readonly words?: readonly string[] }
  addWords(db: Db, fact: { readonly key: number; readonly text: string }): Pending<unknown>
  removeWords(db: Db, key: number): Pending<unknown>
  /** Whether the fact has every tag of a list. */
  hasTags(tags: RawBuilder<unknown>): RawBuilder<SqlBool>
  /** The column by which a vector refers to `rowId` of its fact. */
  readonly reference: 'fact_key' | 'fact_id'
  /** The ids of the facts that contain a word of the text, best first. */
  search(db: Db, request: FactSearch): Pending<readonly string[]>
}

export interface FactSearch {
  readonly text: string
  readonly filter: FactFilter
  readonly limit: number
}

/** What kysely or `sql` builds: a query with rows of `Row`. */
export type Built<Row> = OperationNodeSource & (Compilable<Row> | RawBuilder<Row>)

/** A query that takes `Values` and yields rows of `Row`. */
export interface Query<Values, Row> {
  /** The query as a database reads it. Compiled at its first use, because a starting server uses few of its queries. */
  in(dialect: Dialect): Statement<Values>
  readonly row?: Row // type only
}

export interface Statement<Values> {
  readonly text: string
  /** Returns the values in the order of the placeholders. */
  bind(values: Values): unknown[]
}

/** Runs the queries of a program on one connection, or on any connection of a pool. */
export interface Db {
  readonly dialect: Dialect
  /** Returns the number of changed rows. */
  run<Values>(query: Query<Values, unknown>, values: Values): Pending<number>
  get<Values, Row>(query: Query<Values, Row>, values: Values): Pending<Row | undefined>
  all<Values, Row>(query: Query<Values, Row>, values: Values): Pending<readonly Row[]>
  /** SQLite reads the rows one by one, and cannot write until the iteration ends. */
  each<Values, Row>(query: Query<Values, Row>, values: Values): Pending<Iterable<Row>>
  /** Reads a part of a long text; `undefined` if there is no such row. */
  textPart(part: TextPart): Pending<Uint8Array | undefined>
  /** Returns the cached query of this name, or builds and caches it. For queries whose conditions vary. */
  variant<Values, Row>(name: string, build: () => Query<Values, Row>): Query<Values, Row>
}
