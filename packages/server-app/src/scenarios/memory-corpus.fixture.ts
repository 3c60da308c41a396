import { createMemory, type Memory } from '@perdure/core'
import { createIdGenerator, nodeDigest } from '@perdure/platform-node'
import { type Embedder, EVERY_ROW, type Logger, type Storage } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'

/** A query and the one fact that answers it, among many facts that share words with it. */
export interface Labelled {
  readonly query: string
  readonly wanted: string // text of the fact
}

const FIRST =
  'Amélie Bashir Chiara Dmitri Elif Farid Gudrun Hana Ikaika Jovana Kwame Leïla Mateo Ngozi Oskar Priya Quentin Rosa Søren Tariq'
const LAST =
  'Almeida Brandt Castro Dubois Eriksen Fischer Garcia Haddad Ivanov Jansen Kowalski Lindqvist Moreau Nakamura Okafor Petrov Quispe Rossi Silva Tanaka'

/** A fact about a person, a query that uses its words, and a query that uses other words. */
const ASPECTS: readonly (readonly [fact: string, asked: string, meant: string])[] = [
  ['drinks oat milk in every coffee', 'which milk goes into the coffee of', 'non-dairy beverage preference of'],
  ['parks a green bicycle behind the bakery', 'where does the bicycle stand of', 'two-wheeler location of'],
  ['is allergic to peanuts and shellfish', 'allergic to what is', 'food intolerance of'],
  ['speaks Portuguese at home', 'speaks which language at home', 'mother tongue of'],
  ['prefers meetings before ten in the morning', 'when do meetings suit', 'scheduling wishes of'],
  ['signed the lease for the office in March', 'when was the office lease signed by', 'tenancy contract of'],
  ['plays the cello in a quartet', 'plays the cello', 'musical instrument of'],
  ['owns a grey cat called Pixel', 'name of the cat of', 'pet of'],
  ['wants invoices as PDF by e-mail', 'how to send invoices to', 'billing format for'],
  [
    'took over the payroll migration project',
    'payroll migration was taken over by',
    'salary software responsibility of',
  ],
  ['flies to Lisbon each October', 'flies to Lisbon when', 'yearly journey of'],
  ['asked never to be called on Fridays', 'not to be called on which day', 'phone restrictions of'],
]

/** Maps words to meanings, as an embedding model would. */
export const MEANINGS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'beverage coffee drinks non dairy oat milk preference',
    'two wheeler location bicycle parks behind bakery',
    'food intolerance allergic peanuts shellfish',
    'mother tongue speaks portuguese home',
    'scheduling wishes prefers meetings before ten morning',
    'tenancy contract lease signed office march',
    'musical instrument plays cello quartet',
    'pet cat owns grey called pixel',
    'billing format invoices pdf mail wants',
    'salary software responsibility payroll migration took over project',
    'yearly journey flies lisbon each october',
    'phone restrictions asked never be fridays',
  ].flatMap((group) => group.split(' ').map((word, _, [meaning = word]) => [word, `${meaning}*`])),
)

/** `people * 12` facts about made-up people, with two queries for some of them. */
export function makeCorpus(people: number, queries = 240) {
  const firsts = FIRST.split(' ')
  const lasts = LAST.split(' ')
  const names = Array.from({ length: people }, (_, index) => {
    const round = Math.floor(index / (firsts.length * lasts.length))
    const middle = round === 0 ? '' : ` ${'BCDFGHJKLMNPQRSTVWXZ'[round % 20]}${round}`
    return `${firsts[index % firsts.length]}${middle} ${lasts[Math.floor(index / firsts.length) % lasts.length]}`
  })
  const facts = names.flatMap((name) => ASPECTS.map(([fact]) => `${name} ${fact}`))
  const labelledBy = (toQuery: (aspect: (typeof ASPECTS)[number]) => string): readonly Labelled[] =>
    Array.from({ length: queries }, (_, index) => {
      const name = names[(index * 7) % names.length] as string
      const aspect = ASPECTS[index % ASPECTS.length] as (typeof ASPECTS)[number]
      return { query: `${toQuery(aspect)} ${name.toUpperCase()}?`, wanted: `${name} ${aspect[0]}` }
    })
  return { facts, sameWords: labelledBy(([, asked]) => asked), otherWords: labelledBy(([, , meant]) => meant) }
}

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export interface OpenCorpus {
  readonly memory: Pick<Memory, 'writeFacts'>
  search(query: string, limit?: number): Promise<readonly string[]>
}

/** Stores the texts as facts and opens memory on that storage. */
export async function openCorpus(storage: Storage, texts: readonly string[], embedder?: Embedder): Promise<OpenCorpus> {
  const clock = createManualClock()
  const ids = createIdGenerator()
  const { unitOfWork } = storage
  const memory = createMemory({
    ...{ ...storage, unitOfWork, clock, timers: clock, ids, logger, digest: nodeDigest, embedder },
    ...{ hub: { watch: () => ignore }, basePath: '/v1', idempotencyTtlMs: 1_000 },
    limits: {
      ...{ maxFactBytes: 16_384, blockLimit: 2_000, similarityPercent: 70 },
      ...{ vectorCandidates: 100_000, embedTimeoutMs: 60_000 },
    },
  })
  const facts = texts.map((text) => ({
    ...{ id: ids.newId('memory'), namespace: 'default', owner: 'alice', text, tags: [], metadata: {} },
    ...{ importance: 0.5, fingerprint: nodeDigest.sha256(text), revision: 1 },
    ...{ weighedAt: clock.now(), createdAt: clock.now(), updatedAt: clock.now() },
  }))
  for (let from = 0; from < facts.length; from += 500) {
    const batch = facts.slice(from, from + 500)
    await unitOfWork.commit(batch.map((fact) => ({ type: 'fact.insert', fact }) as const))
    if (embedder === undefined) continue
    const vectors = await embedder.embed(
      batch.map(({ text }) => text),
      { signal: new AbortController().signal },
    )
    await unitOfWork.commit(
      batch.map(({ id }, index) => {
        const vector = vectors[index] ?? []
        const length = Math.hypot(...vector)
        const unit = vector.map((value) => value / length)
        return { type: 'fact.embed', id, revision: 1, embedder: embedder.name, vector: unit } as const
      }),
    )
  }
  return {
    memory,
    search: async (query: string, limit = 10) => {
      const { items } = await memory.searchMemory({ query, limit, visibility: EVERY_ROW })
      return items.map(({ fact }) => fact.text)
    },
  }
}

export interface Quality {
  readonly recallAt1: number
  readonly recallAt10: number
  readonly meanReciprocalRank: number
}

/** Measures how high a search ranks the fact that answers each query. */
export async function measure(
  search: (query: string) => Promise<readonly string[]>,
  labelled: readonly Labelled[],
): Promise<Quality> {
  const ranks: number[] = []
  for (const { query, wanted } of labelled) ranks.push((await search(query)).indexOf(wanted) + 1)
  const share = (isHit: (rank: number) => boolean) => ranks.filter(isHit).length / ranks.length
  return {
    recallAt1: share((rank) => rank === 1),
    recallAt10: share((rank) => rank > 0),
    meanReciprocalRank: ranks.reduce((sum, rank) => sum + (rank === 0 ? 0 : 1 / rank), 0) / ranks.length,
  }
}
