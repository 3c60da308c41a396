import { GEN_AI_PROVIDERS, type SpanAttributes } from '@perdure/protocol'
import { genAiMessages } from './gen-ai-messages.ts'

interface CalledModel {
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly operation?: string | undefined
  readonly input?: unknown
}

interface AnsweredModel {
  readonly model?: string | undefined
  readonly finishReason?: string | undefined
  readonly usage?:
    | { readonly inputTokens: number; readonly cachedInputTokens?: number; readonly outputTokens: number }
    | undefined
  readonly output?: unknown
}

/** The attributes that the span has when the call begins. */
export const callAttributes = ({ provider, model, operation = 'chat' }: CalledModel) =>
  ({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider === undefined ? undefined : genAiProvider(provider),
    'gen_ai.request.model': model,
  }) as const

export const answerAttributes = (
  { input }: CalledModel,
  { model, finishReason, usage, output }: AnsweredModel,
  recordContent: boolean,
): SpanAttributes => ({
  'gen_ai.response.model': model,
  'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
  'gen_ai.usage.input_tokens': usage?.inputTokens,
  'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
  'gen_ai.usage.output_tokens': usage?.outputTokens,
  ...(recordContent
    ? { 'gen_ai.input.messages': genAiMessages(input), 'gen_ai.output.messages': genAiMessages(output) }
    : {}),
})

/**
 * The name of a provider in the conventions. SDKs add the interface to it (`openai.responses`), and have names of their own for
 * some providers.
 */
export function genAiProvider(provider: string): string {
  const known = Object.keys(GEN_AI_PROVIDERS).filter((name) => provider === name || provider.startsWith(`${name}.`))
  const longest = known.toSorted((one, other) => other.length - one.length)[0]
  return longest === undefined ? provider : GEN_AI_PROVIDERS[longest as keyof typeof GEN_AI_PROVIDERS]
}
