import type { FactRecord, FactUpkeep, UnitOfWork } from '@perdure/ports'
import { createSupervisedLoop, type SupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { Vectors } from './vectors.ts'

export interface EmbeddingLoopDeps extends SupervisedLoopDeps {
  readonly factUpkeep: FactUpkeep
  readonly unitOfWork: UnitOfWork
  readonly vectors: Vectors
}

const BATCH = 32
const AFTER_FAILURE_MS = 15_000

/**
 * Makes the vectors that are missing, outside of every commit that writes a fact. What is to be done is read from the
 * facts, so nothing is lost when the process dies. A text that the embedder refuses alone is noted and left out.
 */
export function createEmbeddingLoop(deps: EmbeddingLoopDeps): SupervisedLoop {
  const { factUpkeep, unitOfWork, vectors } = deps
  let isAsked = false

  const forgetOthers = async (embedder: string) => {
    if (isAsked) return
    await unitOfWork.commit([{ type: 'fact.keep-vectors', embedder }])
    isAsked = true
  }

  const work = async (): Promise<number | undefined> => {
    const embedder = vectors.embedder?.name
    if (embedder === undefined) return undefined
    await forgetOthers(embedder)
    const facts = await factUpkeep.unembedded(BATCH)
    if (facts.length === 0) return undefined
    const made = await embedAll(vectors, facts)
    if (made.length === 0) return AFTER_FAILURE_MS
    await unitOfWork.commit(
      made.map(({ fact, vector }) => ({ type: 'fact.embed', id: fact.id, revision: fact.revision, embedder, vector })),
    )
    return 0
  }

  return createSupervisedLoop(deps, { name: 'embedder', work })
}

interface Made {
  readonly fact: FactRecord
  readonly vector: readonly number[] | undefined
}

/** Of a batch that fails, each alone: one that fails while another does not is the fact's own fault. */
async function embedAll({ embed }: Vectors, facts: readonly FactRecord[]): Promise<readonly Made[]> {
  const vectors = await embed(facts.map(({ text }) => text))
  if (vectors !== undefined) return facts.map((fact, index) => ({ fact, vector: vectors[index] }))
  const alone: Made[] = []
  for (const fact of facts) alone.push({ fact, vector: (await embed([fact.text]))?.[0] })
  return alone.some(({ vector }) => vector !== undefined) ? alone : []
}
