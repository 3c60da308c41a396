type Fn = (...args: never[]) => unknown

/** A function whose users are created before what it needs. */
export interface LateBound<F extends Fn> {
  /** @throws Error before `bind` */
  readonly call: (...args: Parameters<F>) => ReturnType<F>
  readonly bind: (implementation: F) => void
}

export function createLateBound<F extends Fn>(name: string): LateBound<F> {
  let bound: F | undefined
  return {
    call(...args) {
      if (bound === undefined) throw new Error(`${name} was called before it was bound`)
      return bound(...args) as ReturnType<F>
    },
    bind(implementation) {
      bound = implementation
    },
  }
}
