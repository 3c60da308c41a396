import { defaultApplyEvents, verifyEvents } from '@ag-ui/client'
import type { LogEvent } from '@perdure/core'
import { beginFold, foldLog, outputText, transcriptOf } from '@perdure/core'
import { readUIMessageStream, type UIMessage } from 'ai'
import fc from 'fast-check'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import type { Response as OpenaiResponse } from 'openai/resources/responses/responses'
import { from, lastValueFrom, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { createAgUiProjector } from './ag-ui/projector.ts'
import { createAiSdkProjector } from './ai-sdk/projector.ts'
import { resultOf } from './mcp/call-result.ts'
import { createCompletionProjector } from './openai/completion-projector.ts'
import { createResponseProjector } from './openai/response-projector.ts'
import { createSegments } from './openai/segments.ts'
import type { Frame, Projector } from './projection.ts'
import { RUN } from './run-logs/events.fixture.ts'
import { runScript } from './run-logs/run-script.fixture.ts'

const numRuns = Number(process.env.PROTOCOL_LOGS ?? 40)

const VIEW = { runId: RUN, agentId: 'mail' }

/** What a client knows after it has read the run. A member is missing if the protocol does not tell it. */
interface Told {
  readonly text: string
  readonly tools?: readonly string[]
  readonly approvals?: readonly string[]
  readonly end?: string | undefined
}

/** Protocols differ in what they put between two blocks of text. */
const joined = (texts: readonly string[]): string => texts.join('').replaceAll('\n\n', '')

const sorted = (values: readonly string[]): readonly string[] => [...new Set(values)].sort()

/** A call that waits for a decision has not ended. */
const endedCall = (id: string, status: string): readonly string[] => (status === 'open' ? [] : [`${id} ${status}`])

const CALLS: Readonly<Record<string, string>> = { done: 'done', called: 'open', 'awaiting-approval': 'open' }

/** What the fold of the log tells, which every protocol has to tell. */
function toldByLog(log: readonly LogEvent[]): Told {
  const transcript = transcriptOf(foldLog(log, beginFold(RUN)))
  const { items, status } = transcript
  return {
    text: joined([outputText(status === 'completed' ? transcript : { items, result: undefined })]),
    tools: sorted(
      items.flatMap((item) => (item.kind === 'tool' ? endedCall(item.id, CALLS[item.status] ?? 'failed') : [])),
    ),
    approvals: sorted(items.flatMap((item) => (item.kind === 'approval' ? [item.id] : []))),
    end: status === 'running' ? undefined : status,
  }
}

const framesOf = (projector: Projector, log: readonly LogEvent[], opening: readonly Frame[]): readonly Frame[] => [
  ...opening,
  ...log.flatMap((event) => projector.next(event)),
  ...(projector.rest() ?? []),
]

const dataOf = <T>(frames: readonly Frame[]): readonly T[] =>
  frames.flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as T]))

async function toldByAiSdk(log: readonly LogEvent[]): Promise<Told> {
  const projector = createAiSdkProjector(VIEW, 7)
  const chunks = dataOf<{ type: string; finishReason?: string }>(framesOf(projector, log, projector.opening('rest')))
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  let message: UIMessage | undefined
  for await (const one of readUIMessageStream({ stream: stream as never, onError: () => undefined })) message = one
  const tools = (message?.parts ?? []).flatMap((part) => (part.type === 'dynamic-tool' ? [part] : []))
  const last = chunks.findLast(({ type }) => type === 'abort' || type === 'finish')
  return {
    text: joined((message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : ''))),
    tools: sorted(
      tools
        .filter(({ toolName }) => !toolName.startsWith('approval.'))
        .flatMap(({ toolCallId, state }) =>
          endedCall(
            toolCallId,
            { 'output-available': 'done', 'approval-requested': 'open' }[state as string] ?? 'failed',
          ),
        ),
    ),
    approvals: sorted(tools.flatMap((part) => ('approval' in part && part.approval ? [part.approval.id] : []))),
    end: last?.type === 'abort' ? 'aborted' : FINISHED[last?.finishReason ?? ''],
  }
}

const FINISHED: Readonly<Record<string, string>> = { stop: 'completed', error: 'failed', 'tool-calls': 'suspended' }

interface AgUiEvent {
  readonly type: string
  readonly value?: { readonly approvalId?: string }
  readonly outcome?: { readonly type: string; readonly interrupts?: readonly { readonly id: string }[] }
}

interface AgUiMessage {
  readonly role: string
  readonly content?: string
  readonly toolCallId?: string
  readonly error?: string
}

async function toldByAgUi(log: readonly LogEvent[]): Promise<Told> {
  const projector = createAgUiProjector({ ...VIEW, threadId: 't', clientRunId: 'r', history: [] })
  const events = dataOf<AgUiEvent>(framesOf(projector, log, projector.opening('rest')))
  await lastValueFrom(from(events as never[]).pipe(verifyEvents(), toArray()))
  const agent = { messages: [], state: {}, subscribers: [], pendingInterrupts: [] } as never
  const input = { threadId: 't', runId: 'r', messages: [], tools: [], context: [], forwardedProps: {}, state: {} }
  const changes = await lastValueFrom(
    defaultApplyEvents(input as never, from(events as never[]), agent, []).pipe(toArray()),
  )
  const messages = (changes.findLast((change) => change.messages !== undefined)?.messages ?? []) as AgUiMessage[]
  const last = events.at(-1)
  return {
    text: joined(messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : ''))),
    tools: sorted(
      messages.flatMap(({ role, toolCallId, content }) =>
        role === 'tool' ? [`${toolCallId} ${content?.startsWith('{"error"') === true ? 'failed' : 'done'}`] : [],
      ),
    ),
    approvals: sorted(
      events.flatMap(({ value, outcome }) => [
        ...(value?.approvalId === undefined ? [] : [value.approvalId]),
        ...(outcome?.interrupts ?? []).map(({ id }) => id),
      ]),
    ),
    end: last?.type === 'RUN_ERROR' ? 'failed' : OUTCOMES[last?.outcome?.type ?? ''],
  }
}

const OUTCOMES: Readonly<Record<string, string>> = {
  success: 'completed',
  cancelled: 'aborted',
  interrupt: 'suspended',
}

const segmentsIn = (log: readonly LogEvent[]): readonly number[] => {
  const segments = createSegments(RUN)
  for (const event of log) segments.next(event)
  return Array.from({ length: segments.current() }, (_, index) => index + 1)
}

const lines = (frames: readonly Frame[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const { data } of frames) if (data !== '[DONE]') controller.enqueue(new TextEncoder().encode(`${data}\n`))
      controller.close()
    },
  })

async function toldByResponses(log: readonly LogEvent[]): Promise<Told> {
  const responses: OpenaiResponse[] = []
  for (const segment of segmentsIn(log)) {
    const projector = createResponseProjector({
      ...{ ...VIEW, segment, model: 'mail', startedAt: 1, metadata: {}, isBackground: false },
    })
    responses.push(await ResponseStream.fromReadableStream(lines(framesOf(projector, log, []))).finalResponse())
  }
  const output = responses.flatMap((response) => response.output)
  const { status, output: last = [] } = responses.at(-1) ?? {}
  const asks = last.some(({ type }) => type === 'mcp_approval_request' || type === 'function_call')
  return {
    text: joined(responses.map(({ output_text }) => output_text)),
    tools: sorted(
      output.flatMap((item) => {
        // The client itself sends the result of such a call, and the script has one for each.
        if (item.type === 'function_call') return [`${item.call_id} done`]
        return item.type === 'mcp_call'
          ? [`${item.id.slice(4)} ${item.status === 'completed' ? 'done' : 'failed'}`]
          : []
      }),
    ),
    approvals: sorted(output.flatMap((item) => (item.type === 'mcp_approval_request' ? [item.id.slice(5)] : []))),
    end: asks ? 'suspended' : RESPONSE_ENDS[status ?? ''],
  }
}

const RESPONSE_ENDS: Readonly<Record<string, string>> = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'aborted',
}

/** Tools of the server are not shown. */
async function toldByCompletions(log: readonly LogEvent[]): Promise<Told> {
  const texts: string[] = []
  const approvals: string[] = []
  let end: string | undefined
  for (const segment of segmentsIn(log)) {
    const projector = createCompletionProjector({ ...VIEW, segment, model: 'mail', isStreamed: true, hasUsage: false })
    const stream = ChatCompletionStream.fromReadableStream(lines(framesOf(projector, log, [])))
    stream.on('content', (delta) => void texts.push(delta))
    const completion = await stream.finalChatCompletion().catch(({ code }: { code?: string }) => {
      end = code === 'aborted' ? 'aborted' : code === undefined ? undefined : 'failed'
    })
    const calls = completion?.choices[0]?.message.tool_calls ?? []
    approvals.push(...calls.map(({ id }) => id).filter((id) => id.startsWith('apr_')))
    const reason = completion?.choices[0]?.finish_reason
    if (reason !== undefined) end = reason === 'stop' ? 'completed' : 'suspended'
  }
  return { text: joined(texts), approvals: sorted(approvals), end }
}

/** The result of a tool call. It has the text only if the run has completed. */
function toldByMcp(log: readonly LogEvent[]): Partial<Told> {
  const transcript = transcriptOf(foldLog(log, beginFold(RUN)))
  const { content, isError, structuredContent } = resultOf(transcript)
  if (structuredContent?.status === 'suspended') return { end: 'suspended' }
  if (transcript.status === undefined || transcript.status === 'running') return {}
  const text = joined(content.map((part) => part.text))
  if (isError === true) return { end: text.startsWith('the run was aborted') ? 'aborted' : 'failed' }
  return { text, end: 'completed' }
}

describe('one recorded run', () => {
  it('is told by every protocol with the same text, tools, approvals and end', async () => {
    await fc.assert(
      fc.asyncProperty(runScript, async (log) => {
        const { tools, ...expected } = toldByLog(log)

        expect(await toldByAiSdk(log), 'AI SDK').toEqual({ ...expected, tools })
        expect(await toldByAgUi(log), 'AG-UI').toEqual({ ...expected, tools })
        expect(await toldByResponses(log), 'Responses').toEqual({ ...expected, tools })
        expect(await toldByCompletions(log), 'Chat Completions').toEqual(expected)
        const { text, end } = expected
        expect({ text, end, ...toldByMcp(log) }, 'MCP').toEqual({ text, end })
      }),
      { numRuns },
    )
  })
})
