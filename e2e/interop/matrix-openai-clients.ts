import type OpenAI from 'openai'
import { APIError } from 'openai'
import type { Response } from 'openai/resources/responses/responses'
import { chatAnswer, decision, isApproval, openaiOf } from './openai-client.ts'
import { agentOf, DECISIONS, shown, sorted, type TellingClient, type Told, untilTold } from './told.ts'

export const tellByResponses: TellingClient = (server, telling) => {
  const headers = { 'Idempotency-Key': `responses-${telling.id}` }
  const model = agentOf(telling)
  const outputs: Response['output'] = []
  const once = { background: true, model } as const
  let id: string | undefined
  let number: number | undefined
  /** What the next request answers. */
  let next: { readonly input: ReturnType<typeof decision>[]; readonly previous_response_id: string } | undefined
  return untilTold(async () => {
    const { responses } = openaiOf({ url: server.url, token: server.token }, { maxRetries: 0 })
    if (id === undefined) {
      const asked = next === undefined ? { input: 'Tell.' } : next
      id = (await responses.create({ ...once, ...asked }, next === undefined ? { headers } : {})).id
    }
    const after = number === undefined ? {} : { starting_after: number }
    let last: Response | undefined
    for await (const event of await responses.retrieve(id, { stream: true, ...after })) {
      if (event.sequence_number !== (number ?? -1) + 1) throw new Error('an event is missing or was sent twice')
      number = event.sequence_number
      if (event.type === 'response.completed') last = event.response
      if (event.type === 'response.failed' || event.type === 'response.incomplete') last = event.response
    }
    if (last === undefined) return undefined
    outputs.push(...last.output)
    const asked = last.output.filter(isApproval) as unknown as readonly { id: string; name: string }[]
    if (asked.length > 0 && asked.every(({ name }) => DECISIONS.has(name))) {
      const input = asked.map((one) => decision(one.id, DECISIONS.get(one.name) === true))
      next = { input, previous_response_id: id }
      id = number = undefined
      return undefined
    }
    const { status = '' } = last
    const ended = { failed: 'failed', cancelled: 'aborted' }[status as string] ?? 'completed'
    return {
      text: outputs
        .flatMap((item) => (item.type === 'message' ? item.content : []))
        .map((part) => ('text' in part ? part.text : ''))
        .join(''),
      // An item that a crash withdraws is added again under another id.
      tools: sorted(
        outputs.flatMap((item) =>
          item.type === 'mcp_call'
            ? [`${item.id.slice(4).replace(/~\d+$/, '')} ${item.status === 'completed' ? 'done' : 'failed'}`]
            : [],
        ),
      ),
      approvals: sorted(outputs.flatMap((item) => (item.type === 'mcp_approval_request' ? [shown(item.name)] : []))),
      end: asked.length > 0 ? 'suspended' : ended,
    } as Told
  })
}

/** Tools of the server are not shown. A stream that ends with `stream_restarted` is repeated, as its users do. */
export const tellByCompletions: TellingClient = (server, telling) => {
  const headers = { 'Idempotency-Key': `completion-${telling.id}` }
  const model = agentOf(telling)
  const approvals = new Set<string>()
  let messages = [{ role: 'user', content: 'Tell.' }] as OpenAI.Chat.ChatCompletionMessageParam[]
  let text = ''
  let isFirst = true
  return untilTold(async () => {
    const { chat } = openaiOf({ url: server.url, token: server.token }, { maxRetries: 0 })
    const stream = await chat.completions.create({ model, messages, stream: true }, isFirst ? { headers } : {})
    let said = ''
    const calls: { readonly id: string; readonly function: { readonly arguments: string } }[] = []
    let finish: string | null | undefined
    try {
      for await (const { choices } of stream) {
        said += choices[0]?.delta.content ?? ''
        calls.push(...((choices[0]?.delta.tool_calls ?? []) as typeof calls))
        finish ??= choices[0]?.finish_reason
      }
    } catch (error) {
      const end = { aborted: 'aborted', 'run-failed': 'failed' }[error instanceof APIError ? (error.code ?? '') : '']
      if (end === undefined) throw error
      return { text: text + said, approvals: sorted(approvals), end } as Told
    }
    if (finish === undefined || finish === null) return undefined
    text += said
    if (finish === 'stop') return { text, approvals: sorted(approvals), end: 'completed' }
    const names = calls.map((call) => String(JSON.parse(call.function.arguments).name))
    for (const name of names) approvals.add(shown(name))
    if (!names.every((name) => DECISIONS.has(name))) return { text, approvals: sorted(approvals), end: 'suspended' }
    messages = chatAnswer(
      calls,
      names.map((name) => JSON.stringify({ approved: DECISIONS.get(name) })),
    )
    isFirst = false
    return undefined
  })
}
