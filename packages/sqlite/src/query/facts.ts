import { type SearchedText, searchByWords, wordsOf } from '@perdure/ports'
import {
  compile,
  type Db,
  type FactDialect,
  type FactSearch,
  type FilterValues,
  filterValues,
  filterVariant,
  matchesFilter,
  type Pending,
  type Query,
  ready,
  runNow,
} from '@perdure/storage'
import { sql } from 'kysely'

/** The words of facts are in a table for full-text search, whose rows have the keys of their facts. */
export const SQLITE_FACTS: FactDialect = {
  columns: [],
  toColumns: () => ({}),
  addWords: (db, { key, text }) => db.run(insertWords, { key, words: wordsOf(text).join(' ') }),
  removeWords: (db, key) => db.run(deleteWords, { key }),
  hasTags: (tags) => sql`not exists (
    select 1 from json_each(${tags}) as wanted where wanted.value not in (select value from json_each(facts.tags)))`,
  reference: 'fact_key',
  search: (db, request) => ready(search(db, request)),
}

function search(db: Db, { text, filter, limit }: FactSearch): readonly string[] {
  const matching = db.variant(`fact search ${filterVariant(filter)}`, () => factSearchQuery(filter))
  const values = filterValues(filter)
  return searchByWords<number>(
    {
      matching: (words) => keysOf(now(db.all(matching, { ...values, match: matchAny(words) }))),
      having: (word) => keysOf(now(db.all(factsWithWord, { match: matchAny([word]) }))),
      texts: (keys) => now(db.each(FACT_TEXTS, { keys })),
    },
    text,
    limit,
  )
}

const keysOf = (rows: readonly { readonly key: number }[]): readonly number[] => rows.map(({ key }) => key)

const now = <T>(answer: Pending<T>): T =>
  runNow(
    (function* () {
      return yield* answer
    })(),
  )

/** Quotes each word, so that no word is interpreted as full-text query syntax. */
const matchAny = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' OR ')

type SearchValues = FilterValues & { readonly match: string }

/** Newest first. The cross join makes the word index the outer loop, whatever other index the filter could use. */
export const factSearchQuery = (filter: FactSearch['filter']): Query<SearchValues, { key: number }> =>
  compile(
    (param, dialect) => sql`select facts.key from fact_words cross join facts on facts.key = fact_words.rowid
      where fact_words match ${param('match')} and ${matchesFilter(filter, { param, dialect })}
      order by fact_words.rowid desc`,
  )

const factsWithWord = compile<{ match: string }, { key: number }>(
  (param) => sql`select rowid as key from fact_words where fact_words match ${param('match')}`,
)

/** In the order of the keys: the cross join makes their array the outer loop. */
export const FACT_TEXTS = compile<{ keys: readonly number[] }, SearchedText>(
  (param) => sql`select facts.id, facts.text, facts.created_at as createdAt
    from json_each(${param('keys')}) as wanted cross join facts on facts.key = wanted.value`,
)

const insertWords = compile<{ key: number; words: string }, unknown>(
  (param) => sql`insert into fact_words (rowid, words) values (${param('key')}, ${param('words')})`,
)

const deleteWords = compile<{ key: number }, unknown>(
  (param) => sql`delete from fact_words where rowid = ${param('key')}`,
)
