import { openSqliteStorage } from '@perdure/sqlite'
import { createHashEmbedder } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { MEANINGS, makeCorpus, measure, openCorpus } from './memory-corpus.fixture.ts'

describe('memory search in 720 facts', () => {
  const { facts, sameWords, otherWords } = makeCorpus(60, 60)
  const embedder = createHashEmbedder({ dimensions: 256, synonyms: MEANINGS })

  it('finds a fact by a query that uses the same words', async () => {
    const storage = await openSqliteStorage({ path: ':memory:' })
    const { search } = await openCorpus(storage, facts)

    const quality = await measure(search, sameWords)

    expect(quality.recallAt10).toBeGreaterThanOrEqual(0.99)
    expect(quality.meanReciprocalRank).toBeGreaterThanOrEqual(0.95)
    await storage.close()
  })

  it('finds more facts with an embedder than without one if the queries use other words', async () => {
    const storage = await openSqliteStorage({ path: ':memory:' })
    const hybrid = await openCorpus(storage, facts, embedder)
    const byWords = await openCorpus(storage, [])

    const alone = await measure(byWords.search, otherWords)
    const together = await measure(hybrid.search, otherWords)

    expect(together.recallAt1).toBeGreaterThan(alone.recallAt1 + 0.3)
    expect(together.meanReciprocalRank).toBeGreaterThanOrEqual(0.75)
    await storage.close()
  })
})
