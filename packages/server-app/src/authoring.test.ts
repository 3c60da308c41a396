import { describe, expect, it } from 'vitest'
import { classifyProviderResponse, createRetry, fallback, ProviderError, retry, ToolError } from './index.ts'

describe('what agent authors import', () => {
  it('retries what may pass, and moves on to the next provider', async () => {
    let calls = 0
    const flaky = async () => {
      if (++calls < 3) throw classifyProviderResponse({ status: 503 })
      return 'answer'
    }
    const down = async () => {
      throw new ProviderError('capacity')
    }

    expect(await retry(flaky, { initialDelayMs: 1 })).toBe('answer')
    expect(await fallback([down, async () => 'other'])).toBe('other')
    expect(calls).toBe(3)
  })

  it('says how a tool failed', () => {
    expect(new ToolError('rate_limited').kind).toBe('rate_limited')
    expect(createRetry).toBeTypeOf('function')
  })
})
