import { describe, expect, it } from 'vitest'
import { ToolError } from './index.ts'
import { classifyProviderResponse, createRetry, fallback, ProviderError, retry } from './providers.ts'

describe('@perdure/server-app', () => {
  it('exports retry and fallback for provider calls', async () => {
    let calls = 0
    const flaky = async () => {
      if (++calls < 3) throw classifyProviderResponse({ status: 503 })
      return 'answer'
    }
    const down = async () => {
      throw new ProviderError('capacity')
    }

    expect(await retry(flaky, { delay: 1 })).toBe('answer')
    expect(await fallback([down, async () => 'other'])).toBe('other')
    expect(calls).toBe(3)
  })

  it('exports ToolError, which carries the kind of the failure', () => {
    expect(new ToolError('rate_limited').kind).toBe('rate_limited')
    expect(createRetry).toBeTypeOf('function')
  })
})
