import { callsOf, type Message, promptOf, type Turn } from './expected.fixture.ts'

export interface Branch {
  readonly turns: readonly Turn[]
  /** The messages that wait until the page has answered the agent. */
  readonly queued: readonly Message[]
  /**
   * A new turn; an approval that is open is superseded. While the page has to answer, the messages wait. Without messages,
   * nothing.
   */
  begin(messages: readonly Message[]): void
  /** The turn that waits or works ends. */
  end(outcome: Turn['outcome'], steering?: readonly Message[]): void
  waiting(): Turn | undefined
  has(text: string): boolean
  /** The turn of this message, and all later ones, are withdrawn. */
  edit(text: string, edited: Message): void
  regenerate(text: string): void
  /** The turns up to the one of this message, if it has ended. */
  upTo(text: string): Branch | undefined
  copy(): Branch
  /** What the model was asked since. */
  callsSince(before: Branch): readonly (readonly string[])[]
}

const kindOf = (messages: readonly Message[]) => messages.at(-1)?.text.split(' ')[0] as Turn['kind']

const newTurn = (messages: readonly Message[]): Turn => {
  const kind = kindOf(messages)
  const outcome = kind === 'plain' || kind === 'look' ? 'answered' : 'waiting'
  return { messages, kind, steering: [], outcome }
}

/** The turns that a user sees. */
export function createBranch(initial: readonly Turn[] = []): Branch {
  let turns = initial
  let queued: readonly Message[] = []
  const replaceLast = (change: Partial<Turn>) => {
    const at = turns.findIndex(({ outcome }) => outcome === 'waiting')
    if (at !== -1) turns = turns.with(at, { ...(turns[at] as Turn), ...change })
  }
  const indexOf = (text: string) => turns.findIndex(({ messages }) => messages.some((one) => one.text === text))
  const branch: Branch = {
    get turns() {
      return turns
    },
    get queued() {
      return queued
    },
    begin(messages) {
      if (messages.length === 0) return
      if (branch.waiting()?.kind === 'ask') {
        queued = [...queued, ...messages]
        return
      }
      replaceLast({ outcome: 'denied' })
      turns = [...turns, newTurn(messages)]
    },
    end(outcome, steering = []) {
      replaceLast({ outcome, steering })
      const next = queued
      queued = []
      branch.begin(next)
    },
    waiting: () => turns.find(({ outcome }) => outcome === 'waiting'),
    has: (text) => indexOf(text) !== -1,
    edit(text, edited) {
      const at = indexOf(text)
      const { messages = [] } = turns[at] ?? {}
      const earlier = messages.slice(
        0,
        messages.findIndex((one) => one.text === text),
      )
      queued = []
      turns = [...turns.slice(0, at), newTurn([...earlier, edited])]
    },
    regenerate(text) {
      const at = indexOf(text)
      queued = []
      const again = newTurn([...(turns[at]?.messages ?? [])])
      // What the tool waits for has happened.
      turns = [...turns.slice(0, at), again.kind === 'hold' ? { ...again, outcome: 'answered' } : again]
    },
    upTo(text) {
      const at = indexOf(text)
      const isOpen = turns.slice(0, at + 1).some(({ outcome }) => outcome === 'waiting')
      return at === -1 || isOpen ? undefined : createBranch(turns.slice(0, at + 1))
    },
    copy: () => createBranch(turns),
    callsSince(before) {
      const earlier = new Set(before.turns)
      return turns.flatMap((turn, index) => {
        if (earlier.has(turn)) return []
        const prefix = turns.slice(0, index).flatMap(promptOf)
        const wasWaiting = before.turns[index]?.outcome === 'waiting' && before.turns[index]?.messages === turn.messages
        return callsOf(turn)
          .slice(wasWaiting ? 1 : 0)
          .map((lines) => [...prefix, ...lines])
      })
    },
  }
  return branch
}
