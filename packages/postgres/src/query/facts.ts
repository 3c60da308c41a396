import { type SearchedText, searchByWords, type WordIndex } from '@perdure/ports'
import {
  compile,
  type Db,
  type FactDialect,
  type FactSearch,
  type FilterValues,
  filterValues,
  filterVariant,
  matchesFilter,
  type Program,
  type Query,
  ready,
} from '@perdure/storage'
import { sql } from 'kysely'
import { bounded } from './bounded.ts'
import { indexedValue, indexedWords } from './indexed-words.ts'

/** The words of a fact are a column with an index. */
export const POSTGRES_FACTS: FactDialect = {
  columns: ['words'],
  toColumns: (text) => ({ words: indexedWords(text) }),
  addWords: () => ready(undefined),
  removeWords: () => ready(undefined),
  hasTags: (tags) => sql`facts.tags @> ${tags}`,
  reference: 'fact_id',
  search,
}

function* search(db: Db, { text, filter, limit }: FactSearch): Program<readonly string[]> {
  const words = searchedWords(text)
  if (words.length === 0) return []
  const query = db.variant(`fact search ${filterVariant(filter)}`, () => factSearchQuery(filter))
  const matching = yield* db.all(query, { ...filterValues(filter), words })
  const candidates = candidatesAmong(matching, text)
  const texts = new Map((yield* db.all(FACT_TEXTS, { keys: candidates })).map((row) => [Number(row.key), row]))
  return searchByWords<number>(
    indexOf(matching, (keys) => keys.flatMap((key) => texts.get(key) ?? [])),
    text,
    limit,
  )
}

interface MatchingFact {
  readonly key: number
  readonly words: readonly string[] // words of the search that the fact contains
}

/** The words of a search, as the index holds them. */
function searchedWords(text: string): readonly string[] {
  let searched: readonly string[] = []
  const withoutFacts: WordIndex<number> = {
    matching(words) {
      searched = words.map(indexedValue)
      return []
    },
    having: () => [],
    texts: () => [],
  }
  searchByWords(withoutFacts, text, 0)
  return searched
}

/** The texts that a search ranks. It chooses them by their words alone, so the texts can be read afterwards. */
function candidatesAmong(matching: readonly MatchingFact[], text: string): readonly number[] {
  let candidates: readonly number[] = []
  const withoutTexts = indexOf(matching, (keys) => {
    candidates = keys
    return []
  })
  searchByWords(withoutTexts, text, 0)
  return candidates
}

const indexOf = (
  matching: readonly MatchingFact[],
  texts: (keys: readonly number[]) => readonly SearchedText[],
): WordIndex<number> => ({
  matching: () => matching.map(({ key }) => key),
  having(word) {
    const wanted = indexedValue(word)
    return matching.filter(({ words }) => words.includes(wanted)).map(({ key }) => key)
  },
  texts,
})

type SearchValues = FilterValues & { readonly words: readonly string[] }

/** Newest first. */
export const factSearchQuery = (filter: FactSearch['filter']): Query<SearchValues, MatchingFact> =>
  compile((param, dialect) => {
    const found = sql`array(select unnest(facts.words) intersect select unnest(${param('words')}::text[]))`
    return sql`select key, ${found} as words
      from facts where facts.words && ${param('words')}::text[] and ${matchesFilter(filter, { param, dialect })}
      order by key desc`
  })

interface FactText extends SearchedText {
  readonly key: number
}

/** In the order of the keys. */
export const FACT_TEXTS = compile<{ keys: readonly number[] }, FactText>((param) =>
  bounded(
    sql<FactText>`select facts.key, facts.id, facts.text, facts.created_at as "createdAt"
      from unnest(${param('keys')}::bigint[]) with ordinality as wanted (key, number) join facts using (key)
      order by wanted.number`,
    ['text'],
  ),
)
