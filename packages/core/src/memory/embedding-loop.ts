import type { FactRecord, FactUpkeep, UnitOfWork } from '@perdure/ports'
import { createSupervisedLoop, type SupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { Vectors } from './vectors.ts'

export interface EmbeddingLoopDeps extends SupervisedLoopDeps {
  readonly factUpkeep: FactUpkeep
  readonly unitOfWork: UnitOfWork
  readonly vectors: Vectors
}

const BATCH = 32
const RETRY_DELAY_MS = 15_000

/**
 * Computes missing vectors, outside the commits that write facts. Finds facts without a vector by reading the stored
 * facts, so a crash loses no work. A text that the embedder rejects even alone is recorded as having no vector and is
 * not retried.
 */
export function createEmbeddingLoop(deps: EmbeddingLoopDeps): SupervisedLoop {
  const { factUpkeep, unitOfWork, vectors } = deps
  let hasDropped = false

  const dropOtherVectors = async (embedder: string) => {
    if (hasDropped) return
    await unitOfWork.commit([{ type: 'fact.keep-vectors', embedder }])
    hasDropped = true
  }

  const work = async (): Promise<number | undefined> => {
    const embedder = vectors.embedder?.name
    if (embedder === undefined) return undefined
    await dropOtherVectors(embedder)
    const facts = await factUpkeep.unembedded(BATCH)
    if (facts.length === 0) return undefined
    const embedded = await embedAll(vectors, facts)
    if (embedded.length === 0) return RETRY_DELAY_MS
    await unitOfWork.commit(
      embedded.map(({ fact, vector }) => ({
        type: 'fact.embed',
        id: fact.id,
        revision: fact.revision,
        embedder,
        vector,
      })),
    )
    return 0
  }

  return createSupervisedLoop(deps, { name: 'embedder', duty: 'embedder', work })
}

interface EmbeddedFact {
  readonly fact: FactRecord
  readonly vector: readonly number[] | undefined
}

/** Embeds each text of a failed batch alone. If some succeed, the embedder works and the other texts are at fault. */
async function embedAll({ embed }: Vectors, facts: readonly FactRecord[]): Promise<readonly EmbeddedFact[]> {
  const vectors = await embed(facts.map(({ text }) => text))
  if (vectors !== undefined) return facts.map((fact, index) => ({ fact, vector: vectors[index] }))
  const single: EmbeddedFact[] = []
  for (const fact of facts) single.push({ fact, vector: (await embed([fact.text]))?.[0] })
  return single.some(({ vector }) => vector !== undefined) ? single : []
}
