/** One call of a generated program, as data, so that its outcome can be predicted without executing it. */
export type Op =
  | {
      readonly op: 'step'
      readonly isShared: boolean // has the same name as other steps
      readonly onCrash: 'retry' | 'fail' | 'ask'
      readonly fails: number // failed attempts before it succeeds, in one process
      readonly takesMs: number
    }
  | { readonly op: 'sleep'; readonly ms: number }
  | { readonly op: 'event'; readonly name: string; readonly timeout: number | undefined }
  | { readonly op: 'approval'; readonly timeout: number | undefined }
  | { readonly op: 'both' | 'race'; readonly left: readonly Op[]; readonly right: readonly Op[] }
  | { readonly op: 'child'; readonly agentId: string; readonly ops: readonly Op[] }
  | { readonly op: 'emit'; readonly isAwaited: boolean }
  | { readonly op: 'microtasks'; readonly count: number }
  | { readonly op: 'throw' }
  | { readonly op: 'request'; readonly takesMs: number } // a step that fails while the outside world is down
  | { readonly op: 'stumble'; readonly times: number; readonly isFinal: boolean } // throws in the first executions
  | { readonly op: 'trio'; readonly event: string; readonly isLate: boolean } // an approval, a note and an event at once
  | { readonly op: 'version'; readonly range: readonly [number, number] }
