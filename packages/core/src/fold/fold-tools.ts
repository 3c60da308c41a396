import { parseStrictText } from '@perdure/ports'
import { isOpenApproval } from '@perdure/protocol'
import { type Content, itemIn, itemsOf, put } from './content.ts'
import { closeImplicit } from './fold-blocks.ts'
import { type Fields, isFields, textIn } from './log-event.ts'
import type { ApprovalItem, ToolItem } from './transcript.ts'

export type CallPart = 'start' | 'delta' | 'end'
export type ExecutionPart = 'start' | 'progress' | 'end' | 'error' | 'result'

/** `tool.call.start`, `.delta` and `.end`: what the model says about a call. */
export function foldToolCall(content: Content, fields: Fields, part: CallPart): Content {
  const [before, tool] = toolOf(content, fields)
  if (tool === undefined) return content
  // A second start belongs to a repetition of the model's call.
  const argsText = (part === 'start' ? '' : tool.argsText) + (textIn(fields, 'argsDelta') ?? '')
  const title = textIn(fields, 'title')
  const executor = fields.executor === 'client' ? 'client' : tool.executor
  const said = {
    ...{ ...declaredAs(tool, fields, part), argsText, executor },
    ...(title === undefined ? {} : { title }),
  }
  if (part === 'delta') return put(before, said)
  const args = 'args' in fields ? fields.args : part === 'end' ? parsed(argsText) : undefined
  const status = part === 'end' && tool.status === 'calling' ? 'called' : tool.status
  return put(before, args === undefined ? { ...said, status } : withArgs({ ...said, status }, args))
}

function declaredAs(tool: ToolItem, { declared, executor }: Fields, part: CallPart): ToolItem {
  if (declared !== 'static' && declared !== 'dynamic')
    return executor === 'server' ? { ...tool, isOnServer: true } : tool
  // The declaration of a complete call decides: it names no executor for an input that the tool does not take.
  const { isOnServer, ...undecided } = tool
  const known = part === 'end' || isOnServer === undefined ? undecided : tool
  return { ...known, declared, ...(executor === 'server' ? { isOnServer: true } : {}) }
}

/** `tool.execute.*` and `tool.result`: what happened to a call. */
export function foldToolExecution(content: Content, fields: Fields, part: ExecutionPart): Content {
  const [before, tool] = toolOf(content, fields)
  if (tool === undefined) return content
  if (part === 'start') {
    const { result: _, error: __, isPreliminary: ___, ...again } = tool
    return put(before, withMissingArgs({ ...again, status: 'executing' }, fields))
  }
  if (part === 'progress') return put(before, { ...tool, ...('result' in fields ? preliminary(fields) : {}) })
  if (part === 'result' && fields.preliminary === true) return put(before, { ...tool, ...preliminary(fields) })
  const { isPreliminary: _, ...ended } = tool
  if (part === 'error' || (part === 'result' && isFields(fields.error))) {
    const error = errorIn(fields)
    return put(before, { ...ended, ...failedCall(tool, error) })
  }
  return put(before, { ...ended, status: 'done', result: fields.result ?? null })
}

function failedCall({ status }: ToolItem, error: ToolFailure): Pick<ToolItem, 'status' | 'isInvalid' | 'error'> {
  if (error.kind === 'approval_denied') return { status: 'denied', error }
  const isInvalid = NOT_BEGUN.has(status) && INVALID.has(error.kind)
  return { status: 'failed', error, ...(isInvalid ? { isInvalid } : {}) }
}

type ToolFailure = NonNullable<ToolItem['error']>

const NOT_BEGUN: ReadonlySet<string> = new Set(['calling', 'called'])

/** The failures that the model caused with what it asked for. */
const INVALID: ReadonlySet<string> = new Set(['invalid_input', 'unknown_tool'])

const preliminary = ({ result }: Fields) => ({ result, isPreliminary: true })

function errorIn({ error }: Fields): ToolFailure {
  const fields = isFields(error) ? error : {}
  return { kind: textIn(fields, 'kind') ?? 'execution_failed', message: textIn(fields, 'message') ?? '' }
}

/** `approval.requested` and its twin `tool.approval.requested`. */
export function foldApprovalRequest(content: Content, fields: Fields, runId: string): Content {
  const id = textIn(fields, 'approvalId')
  if (id === undefined) return content
  const { toolCallId, title, payload } = fields
  const asked: ApprovalItem = {
    ...{ kind: 'approval', id, runId: textIn(fields, 'runId') ?? runId, name: textIn(fields, 'name') ?? id },
    ...(typeof title === 'string' ? { title } : {}),
    ...(payload === undefined ? {} : { payload }),
    ...(typeof toolCallId === 'string' ? { toolCallId } : {}),
    ...rightsIn(fields),
    status: 'pending',
  }
  const known = itemIn(content, 'approval', id)
  const before = closeImplicit(content)
  if (asked.toolCallId === undefined || asked.runId !== runId) return known === undefined ? put(before, asked) : before
  const [withTool, tool] = toolOf(before, toolFields(asked, fields))
  const next = known === undefined ? put(withTool, asked) : withTool
  if (tool === undefined || (known !== undefined && !isOpenApproval(known.status))) return next
  const waiting: ToolItem = { ...tool, status: 'awaiting-approval', approvalId: id }
  return put(next, withMissingArgs(waiting, toolFields(asked, fields)))
}

/** The assignee, and whether a decision may change the arguments. */
function rightsIn(fields: Fields): Pick<ApprovalItem, 'assignee' | 'isEditable'> {
  const assignee = textIn(fields, 'assignee')
  return { ...(assignee === undefined ? {} : { assignee }), ...(fields.editable === true ? { isEditable: true } : {}) }
}

/** `approval.escalated`: somebody else may decide from now on. */
export function foldEscalation(content: Content, fields: Fields): Content {
  const asked = itemIn(content, 'approval', textIn(fields, 'approvalId') ?? '')
  const assignee = textIn(fields, 'assignee')
  return asked === undefined || assignee === undefined || !isOpenApproval(asked.status)
    ? content
    : put(content, { ...asked, assignee })
}

/** The tool of an approval, also in logs whose approvals name it only in their payload. */
function toolFields({ toolCallId, name, payload }: ApprovalItem, fields: Fields): Fields {
  const said = isFields(payload) && typeof payload.toolName === 'string' ? payload : {}
  const { toolName = textIn(said, 'toolName') ?? name, args = said.args } = fields
  return { toolCallId, toolName, ...(args === undefined ? {} : { args }) }
}

/** The message of a denial without a reason. */
export const DENIED_WITHOUT_REASON = 'the approval was denied'

/** `approval.resolved` and `approval.expired`. */
export function foldApprovalEnd(content: Content, fields: Fields, isExpired: boolean): Content {
  const asked = itemIn(content, 'approval', textIn(fields, 'approvalId') ?? '')
  if (asked === undefined) return content
  const by = textIn(fields, 'by')
  const reason = textIn(fields, 'reason')
  const status = isExpired ? 'expired' : fields.decision === 'approved' ? 'approved' : 'denied'
  const edit = 'editedArgs' in fields ? { editedArgs: fields.editedArgs } : {}
  const decided = put(content, {
    ...{ ...asked, status },
    ...(by === undefined ? {} : { by }),
    ...(reason === undefined ? {} : { reason }),
    ...('answer' in fields ? { answer: fields.answer } : {}),
    ...edit,
  })
  const tool = asked.toolCallId === undefined ? undefined : itemIn(decided, 'tool', asked.toolCallId)
  if (tool?.approvalId !== asked.id || tool.status !== 'awaiting-approval') return decided
  if (status === 'approved') return put(decided, { ...tool, ...edit, status: 'called' })
  const message = reason ?? (isExpired ? 'the approval expired' : DENIED_WITHOUT_REASON)
  return put(decided, { ...tool, status: 'denied', error: { kind: 'approval_denied', message } })
}

/** An aborted or failed run takes no answers any more, so its questions are not shown as open. */
export function endQuestions(content: Content): Content {
  const error = { kind: 'aborted', message: 'the run has ended' }
  return itemsOf(content).reduce((ended, item) => {
    if (item.kind === 'approval' && isOpenApproval(item.status)) {
      return foldApprovalEnd(ended, { approvalId: item.id, reason: error.message }, true)
    }
    const isAsked = item.kind === 'tool' && item.executor === 'client' && item.status === 'called'
    return isAsked ? put(ended, { ...item, status: 'failed', error }) : ended
  }, content)
}

/** The tool of the event, which this event may be the first to mention. */
function toolOf(content: Content, fields: Fields): readonly [Content, ToolItem | undefined] {
  const id = textIn(fields, 'toolCallId')
  if (id === undefined) return [content, undefined]
  const before = closeImplicit(content)
  const name = textIn(fields, 'toolName')
  const known = itemIn(content, 'tool', id)
  if (known !== undefined) return [before, known.name === '' && name !== undefined ? { ...known, name } : known]
  const declared = declaredBefore(content, id, name)
  return [
    before,
    { kind: 'tool', id, name: name ?? '', ...declared, argsText: '', executor: 'server', status: 'calling' },
  ]
}

/** A model that uses an id again makes another call of the declared tool, whose id gets a number. */
function declaredBefore(content: Content, id: string, name: string | undefined): Pick<ToolItem, 'declared'> {
  const first = itemIn(content, 'tool', /^(.+)\.\d+$/.exec(id)?.[1] ?? '')
  return first?.declared === undefined || first.name !== name ? {} : { declared: first.declared }
}

const withMissingArgs = (tool: ToolItem, fields: Fields): ToolItem =>
  'args' in tool || !('args' in fields) ? tool : withArgs(tool, fields.args)

function withArgs(tool: ToolItem, args: unknown): ToolItem {
  return { ...tool, args, argsText: JSON.stringify(args) ?? tool.argsText }
}

function parsed(text: string): unknown {
  try {
    return parseStrictText(text)
  } catch {
    return undefined
  }
}
