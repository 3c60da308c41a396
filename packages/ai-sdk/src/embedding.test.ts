import { defineAgent } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { createServer } from '@perdure/server-app'
import type { embed } from 'ai'
import { expect, it, onTestFinished } from 'vitest'
import { durable } from './index.ts'
import { QUIET } from './server.fixture.ts'

const embedder = {
  ...{ specificationVersion: 'v3', provider: 'openai.embedding', modelId: 'small', maxEmbeddingsPerCall: 9 },
  doEmbed: async ({ values }: { readonly values: readonly string[] }) => ({
    ...{ embeddings: values.map(() => [1]), usage: { tokens: 1_000_000 }, warnings: [] },
  }),
} as unknown as Parameters<typeof embed>[0]['model']

it('an embedding is measured and priced like any call of a model', async () => {
  const run = async () => (await durable().embed({ model: embedder, value: 'one' })).embedding
  const server = await createServer({
    config: {
      auth: { kind: 'none' },
      models: { prices: { small: { inputUsdPerMillion: 2, outputUsdPerMillion: 0 } } },
    },
    adapters: { storage: createInMemoryStorage(), logger: QUIET },
    agents: [defineAgent({ id: 'x', run })],
  })
  await server.start({ listen: false })
  onTestFinished(async () => void (await server.stop({ force: true })))

  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', body: '{"input":{}}', headers }
  const answer = await server.fetch(new Request('http://localhost/v1/agents/x/run', init))
  expect(await answer.json()).toMatchObject({ result: [1], usage: { inputTokens: 1_000_000, costUsd: 2 } })
  const metrics = await (await server.fetch(new Request('http://localhost/v1/metrics'))).text()
  expect(metrics).toMatch(/gen_ai_client_operation_duration_seconds_count\{[^}]*"embeddings"[^}]*"small"[^}]*\} 1/)
  expect(metrics).toMatch(/gen_ai_client_token_usage_sum\{[^}]*"embeddings"[^}]*"small"[^}]*\} 1000000/)
})
