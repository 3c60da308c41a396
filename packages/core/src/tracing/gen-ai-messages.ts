type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Longer content leaves out the oldest messages. */
const MAX_LENGTH = 131_072

/**
 * Messages in the form of the OpenTelemetry conventions, as JSON: roles with parts. Understands the messages of the AI SDK and of
 * OpenAI, and a text. Files are named, not copied.
 */
export function genAiMessages(messages: unknown): string | undefined {
  const all = (Array.isArray(messages) ? messages : [messages]).flatMap(toMessage)
  if (all.length === 0) return undefined
  const kept: string[] = []
  let length = 0
  for (const message of all.toReversed()) {
    const text = JSON.stringify(message) ?? 'null'
    length += text.length + 1
    if (length > MAX_LENGTH) break
    kept.unshift(text)
  }
  return `[${kept.join(',')}]`
}

function toMessage(message: unknown): readonly object[] {
  if (typeof message === 'string') return [{ role: 'user', parts: [textPart(message)] }]
  if (!isFields(message)) return []
  const { role = 'user', content, parts = content, finishReason } = message
  const list = Array.isArray(parts) ? parts : [parts]
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  return [
    {
      role,
      parts: [...list, ...calls].flatMap(toPart),
      ...(typeof finishReason === 'string' ? { finish_reason: finishReason } : {}),
    },
  ]
}

const textPart = (content: unknown, type = 'text') => ({ type, content })

function toPart(part: unknown): readonly object[] {
  if (typeof part === 'string') return [textPart(part)]
  if (!isFields(part)) return []
  const { toolCallId, toolName, input, args, output, result, mediaType } = part
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return [textPart(part.text)]
    case 'reasoning':
      return [textPart(part.text, 'reasoning')]
    case 'tool-call':
      return [{ type: 'tool_call', id: toolCallId, name: toolName, arguments: input ?? args }]
    case 'tool-result':
      return [{ type: 'tool_call_response', id: toolCallId, response: output ?? result }]
    case 'function':
      return [functionCall(part)]
    case 'file':
    case 'image':
      return [{ type: 'blob', mime_type: mediaType }]
    default:
      return [{ type: String(part.type ?? 'unknown') }]
  }
}

function functionCall({ id, function: called }: Fields): object {
  const { name, arguments: args } = isFields(called) ? called : {}
  return { type: 'tool_call', id, name, arguments: args }
}
