import { type EventPhase, perdureError, toJsonText } from '@perdure/ports'
import { PATCH_LIMITS } from '@perdure/protocol'
import { SOURCE_MEMBERS } from '../fold/transcript.ts'
import { isLongerThan } from '../json/json-members.ts'
import { readSuspension } from '../runs/stored-suspension.ts'
import type { Authoring, StateWriter, TextWriter } from './authoring.ts'
import type { CallScope } from './call-scope.ts'
import { checkMembers, refuseProblems } from './check-options.ts'
import { handledRejection } from './handled-rejection.ts'
import { knownAnswersOf } from './logged-answers.ts'
import type { ShownState } from './shown-state.ts'
import { callStream } from './stream-call.ts'

/** Writes an event unless the run is replaying; its rejection need not be handled. */
export type Emit = (type: string, payload: unknown, options?: { readonly phase?: EventPhase }) => Promise<void>

/** The part of a run that its ids of blocks name, so that code that continues after `ctx.suspend` uses new ids. */
export const partId = ({ run }: Pick<CallScope, 'run'>): string => {
  const part = readSuspension(run)?.part ?? 0
  return part === 0 ? run.id : `${run.id}.part${part}`
}

export function createAuthoring(scope: CallScope, emit: Emit, shown: ShownState): Authoring {
  const prefix = partId(scope)
  let items = 0
  const text = createTextWriter(scope, emit, { of: 'text', prefix })
  const reasoning = createTextWriter(scope, emit, { of: 'reasoning', prefix })
  return {
    text: Object.assign(
      (delta: string, options = {}) => {
        if (reasoning.isOpen()) void reasoning.end()
        return text.write(delta, options)
      },
      { end: text.end },
    ),
    reasoning: Object.assign(
      (delta: string, options = {}) => {
        if (text.isOpen()) void text.end()
        return reasoning.write(delta, options)
      },
      { end: reasoning.end },
    ),
    state: createStateWriter(emit, shown),
    data: (name, data, options = {}) =>
      refusing(() => {
        checkMembers('ctx.data', options, ['id', 'transient'])
        refuseProblems('ctx.data', [typeof name === 'string' && name !== '' ? undefined : 'its name must be a text'])
        return emit('part.data', { name, data, ...options })
      }),
    source: (source) =>
      refusing(() => {
        checkMembers('ctx.source', source, SOURCE_MEMBERS)
        return emit('part.source', { sourceId: `${prefix}.source${++items}`, ...source })
      }),
    file: (file) =>
      refusing(() => {
        checkMembers('ctx.file', file, ['mediaType', 'url', 'data', 'name'])
        const { mediaType, url, data } = file
        refuseProblems('ctx.file', [
          typeof mediaType === 'string' ? undefined : 'mediaType must be a text',
          (url === undefined) === (data === undefined) ? 'exactly one of url and data must be given' : undefined,
        ])
        return emit('part.file', { fileId: `${prefix}.file${++items}`, ...file })
      }),
    stream: (name, make, options = {}) => callStream(scope, name, { make, options }),
  }
}

/** Rejects, instead of throwing: a caller that does not await the call must not have to catch. */
function refusing(act: () => Promise<void>): Promise<void> {
  try {
    return act()
  } catch (error) {
    return handledRejection(error)
  }
}

interface Writing {
  readonly of: 'text' | 'reasoning'
  readonly prefix: string
}

interface OpenBlock {
  readonly messageId: string
  /** The next call when the block began. */
  readonly nextSeq: number
  readonly phase: EventPhase | undefined
}

/** Writes one block after another. Their ids follow from the calls of the code, so a re-execution gives the same ids. */
function createTextWriter(scope: CallScope, emit: Emit, { of, prefix }: Writing) {
  const { ledger } = scope
  let count = 0
  let open: OpenBlock | undefined

  const end = (): Promise<void> => {
    const ended = open
    open = undefined
    return ended === undefined ? Promise.resolve() : emit(`${of}.end`, { messageId: ended.messageId })
  }

  const blockFor = (phase: EventPhase | undefined): OpenBlock => {
    const nextSeq = ledger.nextSeq()
    if (open?.nextSeq === nextSeq && open.phase === phase) return open
    void end()
    open = { messageId: `${prefix}.${of}${++count}`, nextSeq, phase }
    const { messageId } = open
    void emit(`${of}.start`, { messageId, phase }, phaseOption(phase))
    return open
  }

  const write: (...args: Parameters<TextWriter>) => Promise<void> = (delta, options = {}) =>
    refusing(() => {
      checkMembers(`ctx.${of}`, options, ['phase'])
      const { phase } = options
      refuseProblems(`ctx.${of}`, [
        typeof delta === 'string' ? undefined : 'its argument must be a text',
        phase === undefined || phase === 'commentary' ? undefined : 'phase must be commentary or missing',
      ])
      // A durable model has shown its own text, which the code passes on.
      if (delta === '' || knownAnswersOf(scope)?.repeatsText(of, delta) === true) return Promise.resolve()
      const { messageId } = blockFor(phase)
      return emit(`${of}.delta`, { messageId, delta, phase }, phaseOption(phase))
    })

  return { write, end, isOpen: () => open !== undefined }
}

const phaseOption = (phase: EventPhase | undefined) => (phase === undefined ? {} : { phase })

function createStateWriter(emit: Emit, shown: ShownState): StateWriter {
  const write = (state: unknown) =>
    refusing(() => {
      refuseProblems('ctx.state', [
        isLongerThan(toJsonText(state ?? null), PATCH_LIMITS.bytes)
          ? `the state is longer than ${PATCH_LIMITS.bytes} bytes`
          : undefined,
      ])
      return emit('part.state', { state: state ?? null })
    })

  const patch: StateWriter['patch'] = (steps) =>
    refusing(() => {
      if (!shown.isKnown()) {
        throw perdureError('validation-failed', {
          message: 'ctx.state.patch: there is no state to change',
          hint: 'call ctx.state with the whole state first',
        })
      }
      const patched = shown.patched(steps)
      refuseProblems('ctx.state.patch', [patched.ok ? undefined : patched.problem])
      return emit('part.state-delta', { patch: steps })
    })

  return Object.assign(write, { patch })
}
