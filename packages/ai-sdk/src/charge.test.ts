import { defineAgent, type RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { embed } from 'ai'
import { describe, expect, it } from 'vitest'
import { durable } from './index.ts'
import { serverWith } from './server.fixture.ts'
import { scriptedModel } from './testing.ts'

type Writes = Parameters<ReturnType<typeof createInMemoryStorage>['unitOfWork']['commit']>[0]

const embedder = {
  ...{ specificationVersion: 'v3', provider: 'openai.embedding', modelId: 'small', maxEmbeddingsPerCall: 9 },
  doEmbed: async () => ({ embeddings: [[1]], usage: { tokens: 7 }, warnings: [] }),
} as unknown as Parameters<typeof embed>[0]['model']

const model = scriptedModel(() => 'Hello there')

const CALLS: Readonly<Record<string, (ctx: RunContext) => PromiseLike<unknown>>> = {
  generateText: (ctx) => durable(ctx).generateText({ model, prompt: 'Hi' }),
  streamText: (ctx) => durable(ctx).streamText({ model, prompt: 'Hi' }).text,
  embed: (ctx) => durable(ctx).embed({ model: embedder, value: 'one' }),
}

/** The writes of each commit of a run that makes one call. */
async function commitsOf(call: (ctx: RunContext) => PromiseLike<unknown>): Promise<readonly Writes[]> {
  const storage = createInMemoryStorage()
  const commits: Writes[] = []
  const unitOfWork: typeof storage.unitOfWork = {
    ...storage.unitOfWork,
    commit(writes) {
      commits.push(writes)
      return storage.unitOfWork.commit(writes)
    },
  }
  const agent = defineAgent({ id: 'x', run: async (_, ctx) => void (await call(ctx)) })
  const server = await serverWith([agent], { ...storage, unitOfWork })
  expect(await server.get('/agents/x/run', { input: {} })).toMatchObject({ status: 'completed' })
  return commits
}

describe('what an answer costs', () => {
  it.each(Object.entries(CALLS))('is charged in the commit that records the answer: %s', async (_, call) => {
    const charges = (await commitsOf(call)).filter((writes) => writes.some(({ type }) => type === 'run.charge'))

    expect(charges).toHaveLength(1)
    expect(charges[0]).toContainEqual(
      expect.objectContaining({ type: 'step.change', change: expect.objectContaining({ status: 'completed' }) }),
    )
  })
})
