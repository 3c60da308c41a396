// node --conditions=perdure-source bench/memory-search.ts
// Measures latency and ranking quality of search over 20,004 facts in a file. Prints one JSON object.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStorage } from '@perdure/sqlite'
import { createHashEmbedder } from '@perdure/testkit'
import {
  type Labelled,
  MEANINGS,
  makeCorpus,
  measure,
  openCorpus,
} from '../packages/server-app/src/scenarios/memory-corpus.fixture.ts'

const PEOPLE = 1_667
const { facts, sameWords, otherWords } = makeCorpus(PEOPLE)
const directory = mkdtempSync(join(tmpdir(), 'perdure-bench-'))
const storage = await openSqliteStorage({ path: join(directory, 'data.db') })
const embedder = createHashEmbedder({ dimensions: 256, synonyms: MEANINGS })

const insertedMs = Math.round(await timed(() => openCorpus(storage, facts, embedder)))
const byWords = await openCorpus(storage, [])
const hybrid = await openCorpus(storage, [], embedder)

console.log(
  JSON.stringify(
    {
      facts: facts.length,
      insertedMs,
      words: { sameWords: await both(byWords.search, sameWords), otherWords: await both(byWords.search, otherWords) },
      hybrid: {
        sameWords: await both(hybrid.search, sameWords.slice(0, 120)),
        otherWords: await both(hybrid.search, otherWords.slice(0, 120)),
      },
      create: await writes(),
    },
    undefined,
    2,
  ),
)
await storage.close()
rmSync(directory, { recursive: true })

async function both(search: (query: string) => Promise<readonly string[]>, labelled: readonly Labelled[]) {
  const times: number[] = []
  const watched = async (query: string) => {
    let found: readonly string[] = []
    times.push(
      await timed(async () => {
        found = await search(query)
      }),
    )
    return found
  }
  const quality = await measure(watched, labelled)
  return { ...percentiles(times), ...quality }
}

/** Measures fact writes, including the search for conflicting facts. */
async function writes() {
  const times: number[] = []
  for (let n = 0; n < 100; n++) {
    const input = { text: `Visitor number ${n} drinks oat milk in every coffee and speaks Portuguese` }
    times.push(await timed(() => byWords.memory.writeFacts.create({ input, owner: 'alice' })))
  }
  return percentiles(times)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

function percentiles(times: number[]) {
  times.sort((a, b) => a - b)
  const at = (share: number) => Number(times[Math.floor(share * (times.length - 1))]?.toFixed(2))
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }
}
