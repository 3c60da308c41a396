// Streams as the SDKs send them: each says "Hello" after the reasoning "think" and calls the tool "send".

export const AI_SDK = [
  { type: 'start' },
  { type: 'start-step' },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', text: 'think' },
  { type: 'reasoning-end', id: 'r' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', text: 'Hello' },
  { type: 'text-end', id: 't' },
  { type: 'tool-input-start', id: 'call', toolName: 'send' },
  { type: 'tool-input-delta', id: 'call', delta: '{"to":1}' },
  { type: 'tool-input-end', id: 'call' },
  { type: 'tool-call', toolCallId: 'call', toolName: 'send', input: { to: 1 } },
  { type: 'finish-step', usage: { inputTokens: 2, outputTokens: 3 }, response: { modelId: 'm-1' } },
  { type: 'finish', finishReason: 'stop', totalUsage: { inputTokens: 2, outputTokens: 3 } },
]
export const MODEL_PARTS = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', modelId: 'm-1' },
  { type: 'reasoning-delta', id: 'r', delta: 'think' },
  { type: 'text-delta', id: 't', delta: 'Hello' },
  { type: 'tool-call', toolCallId: 'call', toolName: 'send', input: '{"to":1}' },
  {
    type: 'finish',
    finishReason: { unified: 'stop' },
    usage: { inputTokens: { total: 2 }, outputTokens: { total: 3 } },
  },
]
const completionChunk = (choice: object, more = {}) => ({
  object: 'chat.completion.chunk',
  model: 'm-1',
  choices: [choice],
  ...more,
})
export const CHAT = [
  completionChunk({ delta: { role: 'assistant', content: '', reasoning_content: 'think' } }),
  completionChunk({ delta: { content: 'Hel' } }),
  completionChunk({ delta: { content: 'lo' } }),
  completionChunk({
    delta: { tool_calls: [{ index: 0, id: 'call', function: { name: 'send', arguments: '{"to"' } }] },
  }),
  completionChunk({ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }),
  completionChunk({ delta: {}, finish_reason: 'stop' }),
  { ...completionChunk({}), choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } },
]
const toolItem = { type: 'function_call', id: 'fc', call_id: 'call', name: 'send', arguments: '{"to":1}' }
export const RESPONSES = [
  { type: 'response.created' },
  { type: 'response.reasoning_summary_text.delta', item_id: 'r', delta: 'think' },
  { type: 'response.output_text.delta', item_id: 'm', content_index: 0, delta: 'Hello' },
  { type: 'response.output_text.done', item_id: 'm', content_index: 0 },
  { type: 'response.output_item.added', item: toolItem },
  { type: 'response.function_call_arguments.delta', item_id: 'fc', delta: '{"to":1}' },
  { type: 'response.output_item.done', item: toolItem },
  {
    type: 'response.completed',
    response: { status: 'stop', model: 'm-1', usage: { input_tokens: 2, output_tokens: 3 } },
  },
]
