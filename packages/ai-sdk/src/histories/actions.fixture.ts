import fc from 'fast-check'

/** What the agent does for a message: answers, looks up, asks for an approval, asks the page, or works until released. */
export type Kind = 'plain' | 'look' | 'pay' | 'ask' | 'hold'

/** Whether a message has a file, and where its content is stored. */
export type File = 'none' | 'inline' | 'large'

/** A message that is sent while the agent works, and what the user does with it before it is taken. */
export interface Meanwhile {
  readonly onBusy: 'queue' | 'steer'
  readonly kind: 'plain' | 'look'
  readonly file: File
  readonly change: 'none' | 'edit' | 'withdraw'
  readonly via: 'page' | 'rest'
}

export type Action = (
  | {
      readonly type: 'send'
      readonly tab: number
      readonly kind: Kind
      readonly file: File
      readonly via: 'page' | 'rest'
    }
  | { readonly type: 'edit' | 'regenerate'; readonly tab: number; readonly message: number; readonly kind: Kind }
  | { readonly type: 'decide'; readonly isApproved: boolean }
  | { readonly type: 'answer' | 'stop' }
  | { readonly type: 'busy'; readonly messages: readonly Meanwhile[]; readonly end: 'release' | 'stop' | 'interrupt' }
  | { readonly type: 'reload'; readonly tab: number }
  | { readonly type: 'fork'; readonly message: number }
) & {
  /** The server is killed when it has made so many commits of this action; not at all by `undefined`. */
  readonly crash: number | undefined
}

export interface History {
  readonly actions: readonly Action[]
  /** Whether the agent compacts long prompts. */
  readonly compacts: boolean
}

const kind = fc.constantFrom<Kind>('plain', 'look', 'pay', 'ask')
const file = fc.oneof(
  { weight: 4, arbitrary: fc.constant<File>('none') },
  { weight: 2, arbitrary: fc.constant<File>('inline') },
  { weight: 1, arbitrary: fc.constant<File>('large') },
)
const via = fc.constantFrom('page' as const, 'rest' as const)
const tab = fc.nat(1)
const message = fc.nat(9)

const meanwhile: fc.Arbitrary<Meanwhile> = fc.record({
  onBusy: fc.constantFrom('queue' as const, 'steer' as const),
  kind: fc.constantFrom('plain' as const, 'look' as const),
  ...{ file, via },
  change: fc.constantFrom('none' as const, 'none' as const, 'edit' as const, 'withdraw' as const),
})

/** @param crash when the server is killed during an action */
const actionWith = (crash: fc.Arbitrary<number | undefined>): fc.Arbitrary<Action> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ type: fc.constant('send' as const), tab, kind, file, via, crash }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constantFrom('edit' as const, 'regenerate' as const),
        tab,
        message,
        kind,
        crash,
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('decide' as const), isApproved: fc.boolean(), crash }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('answer' as const, 'stop' as const), crash }) },
    {
      weight: 3,
      arbitrary: fc.record({
        ...{ type: fc.constant('busy' as const), crash },
        messages: fc.array(meanwhile, { maxLength: 4 }),
        end: fc.constantFrom('release' as const, 'stop' as const, 'interrupt' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('reload' as const), tab, crash: fc.constant(undefined) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('fork' as const), message, crash }) },
  )

/** Histories of 3 to 14 actions; each third action, about, meets a kill. */
export const history: fc.Arbitrary<History> = fc.record({
  actions: fc.array(actionWith(fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined, freq: 2 })), {
    ...{ minLength: 3, maxLength: 14 },
  }),
  compacts: fc.boolean(),
})
