import type { ResolvedApprovalStatus } from '@perdure/protocol'
import { jsonOrText } from '../parts/json-or-text.ts'
import { type Fields, isFields, type Parts, textOf } from './fold-parts.ts'
import type { ToolPart } from './message-parts.ts'
import { resultFileIn } from './result-file.ts'

type CallPart = 'start' | 'delta' | 'end'

/** The calls of tools, and the approvals that they or the code of the run wait for. */
export interface Calls {
  /** What the model says about a call: its start, a piece of its arguments, or its end. */
  call(part: CallPart, fields: Fields): void
  execute(fields: Fields): void
  /** The result or the error; with `preliminary`, a result that another one replaces. */
  answer(fields: Fields): void
  /** An approval is requested, perhaps for a tool call of this run. */
  ask(fields: Fields, runId: string | undefined): void
  decide(state: ResolvedApprovalStatus, fields: Fields): void
}

const NEW_CALL = {
  kind: 'tool',
  name: '',
  args: undefined,
  answer: undefined,
  state: 'writing',
  isClient: false,
} as const

/** @param put adds a part after everything so far, or changes it */
export function createCalls({ put, find }: Pick<Parts, 'put' | 'find'>): Calls {
  const change = ({ toolCallId: id, toolName }: Fields, changed: (tool: ToolPart) => Partial<ToolPart>) => {
    if (typeof id !== 'string') return
    const known = find('tool', id) ?? { ...NEW_CALL, id }
    const name = known.name === '' ? (textOf(toolName) ?? '') : known.name
    put({ ...known, name, ...changed(known) })
  }

  const askedBy = (fields: Fields, runId: string | undefined): string | undefined =>
    (fields.runId ?? runId) === runId ? textOf(fields.toolCallId) : undefined

  return {
    call(part, fields) {
      change(fields, (tool) => ({
        args: fields.args ?? saidArgs(part, tool, fields),
        isClient: tool.isClient || fields.executor === 'client',
        title: textOf(fields.title) ?? tool.title,
        state: part === 'end' && tool.state === 'writing' ? 'called' : tool.state,
      }))
    },
    execute(fields) {
      change(fields, ({ args }) => ({
        state: 'executing',
        answer: undefined,
        file: undefined,
        args: fields.args ?? args,
      }))
    },
    answer(fields) {
      const { error, result, preliminary } = fields
      change(fields, () => {
        if (preliminary === true) return { answer: result }
        if (error === undefined) return { answer: result ?? null, file: resultFileIn(fields), state: 'done' }
        const isDenied = isFields(error) && error.kind === 'approval_denied'
        return { answer: error, state: isDenied ? 'denied' : 'failed' }
      })
    },
    ask(fields, runId) {
      const { approvalId: id, payload } = fields
      if (typeof id !== 'string') return
      const title = textOf(fields.title)
      const name = textOf(fields.name) ?? id
      const toolCallId = askedBy(fields, runId)
      if (find('approval', id) === undefined) {
        put({ kind: 'approval', id, name, title, payload, state: 'pending', toolCallId })
      }
      if (toolCallId === undefined) return
      const { toolName, args } = toolIn(fields)
      change({ toolCallId, toolName: toolName ?? name }, (tool) => ({
        ...{ state: 'waiting', approvalId: id, args: tool.args ?? args, title },
      }))
    },
    decide(state, { approvalId, by, reason }) {
      const asked = find('approval', approvalId)
      if (asked === undefined) return
      put({ ...asked, state, by: textOf(by), reason: textOf(reason) })
      const tool = asked.toolCallId === undefined ? undefined : find('tool', asked.toolCallId)
      if (tool?.state === 'waiting') put({ ...tool, state: state === 'approved' ? 'called' : 'denied' })
    },
  }
}

/** The arguments so far: their text while the model writes them, then their value. */
function saidArgs(part: CallPart, { args }: ToolPart, { argsDelta }: Fields): unknown {
  // A second start belongs to a repetition of the model's call.
  if (part === 'start') return textOf(argsDelta)
  return part === 'delta' ? `${textOf(args) ?? ''}${textOf(argsDelta) ?? ''}` : parsed(args)
}

/** The tool of an approval, also in logs whose approvals name it only in their payload. */
function toolIn({ toolName, args, payload }: Fields): Pick<Fields, 'toolName' | 'args'> {
  const said = isFields(payload) ? payload : {}
  return { toolName: textOf(toolName) ?? textOf(said.toolName), args: args ?? said.args }
}

const parsed = (args: unknown): unknown => (typeof args === 'string' ? jsonOrText(args) : args)
