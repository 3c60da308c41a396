/** Why a model stopped, as the AI SDK names it. */
export type ModelFinish = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'

/** The reasons of the AI SDK, and what the APIs of providers say instead. */
const REASONS: ReadonlyMap<string, ModelFinish> = new Map([
  ...(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'] as const).map((one) => [one, one] as const),
  ['completed', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['incomplete', 'length'],
  ['content_filter', 'content-filter'],
  ['refusal', 'content-filter'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['tool_use', 'tool-calls'],
  ['failed', 'error'],
])

/** `stop` for a run without a model. */
export const modelFinishOf = (reason: string | undefined): ModelFinish =>
  reason === undefined ? 'stop' : (REASONS.get(reason) ?? 'other')
