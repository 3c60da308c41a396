import type { Usage } from '@perdure/core'

/** What a run has used in all, or in a part of it. */
export interface UsedTokens {
  readonly input: number
  readonly cached: number
  readonly output: number
}

export const NO_TOKENS: UsedTokens = { input: 0, cached: 0, output: 0 }

export const tokensOf = (usage: readonly Usage[]): UsedTokens =>
  usage.reduce(
    ({ input, cached, output }, one) => ({
      input: input + one.inputTokens,
      cached: cached + one.cachedInputTokens,
      output: output + one.outputTokens,
    }),
    NO_TOKENS,
  )

export const tokensSince = (before: UsedTokens, { input, cached, output }: UsedTokens): UsedTokens => ({
  input: input - before.input,
  cached: cached - before.cached,
  output: output - before.output,
})

export const completionUsage = ({ input, cached, output }: UsedTokens) => ({
  ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  prompt_tokens_details: { cached_tokens: cached },
})

export const responseUsage = ({ input, cached, output }: UsedTokens) => ({
  ...{ input_tokens: input, input_tokens_details: { cached_tokens: cached } },
  ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: 0 } },
  total_tokens: input + output,
})
