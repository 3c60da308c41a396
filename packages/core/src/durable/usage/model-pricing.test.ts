import { createInMemoryMeter } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, silentLogger, untilIdle } from '../../engine/test-engine.fixture.ts'
import { AI_SDK, CHAT, MODEL_PARTS, RESPONSES } from '../../model-parts/stream-sources.fixture.ts'
import type { RunContext } from '../../targets/run-context.ts'
import { createPricing, type PriceUsage } from './model-pricing.ts'

const PRICES = {
  small: { inputUsdPerMillion: 1, outputUsdPerMillion: 10, cachedInputUsdPerMillion: 0.1 },
  'm-1': { inputUsdPerMillion: 100_000, outputUsdPerMillion: 1_000_000, cachedInputUsdPerMillion: 10_000 },
  'azure/small': { inputUsdPerMillion: 2, outputUsdPerMillion: 20 },
}

function recorded() {
  const lines: unknown[][] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (...line) => void lines.push(['warn', ...line]),
    error: (...line) => void lines.push(['error', ...line]),
  }
  return { lines, logger }
}

const costOf = (report: { provider?: string; model?: string; [count: string]: unknown }, priceUsage?: PriceUsage) => {
  const { lines, logger } = recorded()
  const pricing = createPricing({ prices: PRICES, priceUsage, logger })
  const { costUsd } = pricing.price({ provider: 'openai', model: 'small', ...report }, false)
  return { costUsd, lines }
}

describe('the cost of a model call', () => {
  it.each([
    ['input and output tokens', { inputTokens: 1_000_000, outputTokens: 100_000 }, 2],
    ['cached tokens', { inputTokens: 1_000_000, cachedInputTokens: 600_000 }, 0.46],
    ['no more cached tokens than input tokens', { inputTokens: 100_000, cachedInputTokens: 900_000 }, 0.01],
    ['the price of this provider', { provider: 'azure', inputTokens: 1_000_000 }, 2],
    ['the price of a dated version', { model: 'small-2026-01-31', inputTokens: 1_000_000 }, 1],
    ['the price of a dated version without hyphens', { model: 'small-20260131', inputTokens: 1_000_000 }, 1],
    ['a price without one for cached tokens', { provider: 'azure', inputTokens: 1_000_000, cachedInputTokens: 9 }, 2],
  ])('is computed from %s', (_, report, expected) => {
    expect(costOf(report).costUsd).toBeCloseTo(expected, 12)
  })

  it('is the one that the code reports, if it reports one', () => {
    expect(costOf({ inputTokens: 1_000_000, costUsd: 0 }).costUsd).toBe(0)
  })

  it('is what the function of the configuration returns', () => {
    expect(costOf({ inputTokens: 4 }, ({ inputTokens = 0 }) => inputTokens * 2).costUsd).toBe(8)
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['returns no number', () => 'free' as never],
    ['returns a negative number', () => -1],
  ])('is missing, without failing the run, if the function %s', (_, priceUsage) => {
    const { costUsd, lines } = costOf({ inputTokens: 4 }, priceUsage)
    expect(costUsd).toBeUndefined()
    expect(lines).toContainEqual([
      'warn',
      'a model has no price: its usage counts as 0 USD',
      { provider: 'openai', model: 'small', hint: 'set models.prices in the configuration' },
    ])
  })

  it('is reported as missing once for each model', () => {
    const { lines, logger } = recorded()
    const pricing = createPricing({ prices: PRICES, logger })
    for (const model of ['a', 'b', 'a', 'small']) pricing.price({ provider: 'p', model, inputTokens: 1 }, false)

    expect(lines.map(([, , fields]) => (fields as { model: string }).model)).toEqual(['a', 'b'])
  })

  it('is reported as missing without prices only where a budget in dollars applies', () => {
    const { lines, logger } = recorded()
    const pricing = createPricing({ logger })
    pricing.price({ provider: 'p', model: 'a', inputTokens: 1 }, false)
    expect(lines).toEqual([])
    pricing.price({ provider: 'p', model: 'a', inputTokens: 1 }, true)
    expect(lines).toHaveLength(1)
  })

  it('fills the log with no more than 100 names that code invents', () => {
    const { lines, logger } = recorded()
    const pricing = createPricing({ prices: PRICES, logger })
    for (let n = 0; n < 500; n++) pricing.price({ provider: 'p', model: `m${n}`, inputTokens: 1 }, false)
    expect(lines).toHaveLength(100)
  })
})

describe('a run with prices', () => {
  const runOf = async (code: (context: RunContext) => Promise<unknown>, budget = {}) => {
    const meter = createInMemoryMeter()
    const agents = [
      agentOf('a', (_, context) => code(context), { budget }),
      agentOf('child', (_, context) => context.usage({ provider: 'p', model: 'small', inputTokens: 1_000_000 })),
    ]
    const engine = createTestEngine({ agents, meter, pricing: createPricing({ prices: PRICES, logger: silentLogger }) })
    const { runId = '' } = await engine.run('a', { answer: 'accepted' })
    await untilIdle(engine.clock)
    return { run: await engine.find(runId), meter, events: await engine.eventsOf(runId) }
  }

  it('ends when the cost of its model calls reaches a budget in dollars', async () => {
    const call = (context: RunContext) => context.usage({ provider: 'p', model: 'small', outputTokens: 60_000 })
    let calls = 0
    const { run, meter } = await runOf(
      async (context) => {
        for (;;) {
          calls++
          await call(context)
        }
      },
      { costUsd: 1 },
    )

    expect(calls).toBe(2)
    expect(run).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted', usage: { costUsd: 1.2 } })
    expect(meter.values.get('svc_provider_cost_usd_total{provider="p",model="small"}')).toBeCloseTo(1.2)
  })

  it('is charged for the calls of its children', async () => {
    const { run } = await runOf((context) => context.invoke('child'))
    expect(run?.usage.costUsd).toBe(1)
  })

  const withCache = (chunks: readonly object[]) =>
    chunks.map((chunk) =>
      JSON.parse(
        JSON.stringify(chunk)
          .replaceAll('"inputTokens":2', '"inputTokens":2,"inputTokenDetails":{"cacheReadTokens":1}')
          .replaceAll('"inputTokens":{"total":2}', '"inputTokens":{"total":2,"cacheRead":1}')
          .replaceAll('"prompt_tokens":2', '"prompt_tokens":2,"prompt_tokens_details":{"cached_tokens":1}')
          .replaceAll('"input_tokens":2', '"input_tokens":2,"input_tokens_details":{"cached_tokens":1}'),
      ),
    )
  const LANGCHAIN = [
    {
      content: 'Hello',
      usage_metadata: { input_tokens: 2, output_tokens: 3, input_token_details: { cache_read: 1 } },
    },
  ]

  it.each([
    ['AI SDK parts', withCache(AI_SDK)],
    ['the parts of a model', withCache(MODEL_PARTS)],
    ['OpenAI chat completion chunks', withCache(CHAT)],
    ['OpenAI Responses events', withCache(RESPONSES)],
    ['LangChain chunks', LANGCHAIN],
  ])('reads the cached tokens of %s', async (_, chunks) => {
    const { run, events } = await runOf((context) =>
      context.stream('answer', () => ReadableStream.from(chunks), { model: 'm-1' }),
    )

    expect(run?.usage.costUsd).toBeCloseTo(0.1 + 0.01 + 3)
    const [usage] = events.filter(({ type }) => type === 'usage').map(({ payload }) => JSON.parse(payload))
    expect(usage).toMatchObject({ inputTokens: 2, cachedInputTokens: 1, outputTokens: 3 })
  })
})
