/**
 * A controller that aborts with its owner, and lives as long. `AbortSignal.any` is no substitute: Node.js keeps its signal,
 * and everything that a listener of it refers to, until one of the sources aborts. The code of a suspended run never
 * removes its listeners, and the signal of its run never aborts.
 */
export function ownedController(owner: AbortSignal): AbortController {
  const controller = new AbortController()
  if (owner.aborted) controller.abort(owner.reason)
  else owner.addEventListener('abort', () => controller.abort(owner.reason), { once: true })
  return controller
}

/** Aborts the controller with a signal that may outlive it, and does not keep the controller. */
export function follow(controller: AbortController, signal: AbortSignal): void {
  if (signal.aborted) {
    controller.abort(signal.reason)
    return
  }
  const listener = abortOf(new WeakRef(controller))
  signal.addEventListener('abort', listener, { once: true })
  followers.register(controller, { signal: new WeakRef(signal), listener })
}

/**
 * The signal of a call, for one try of it. The signal of the try aborts with the run and when the try times out.
 *
 * @param given the signal that the SDK passes to the call: that of the run, unless the caller has one of its own
 */
export function signalOfTry(run: AbortSignal, given: AbortSignal | undefined, ofTry: AbortSignal): AbortSignal {
  if (given === undefined || given === run) return ofTry
  const controller = ownedController(ofTry)
  follow(controller, given)
  return controller.signal
}

interface Follower {
  readonly signal: WeakRef<AbortSignal>
  readonly listener: (event: Event) => void
}

/** A function of its own, because a closure in `follow` would refer to the controller. */
const abortOf =
  (controller: WeakRef<AbortController>): Follower['listener'] =>
  ({ target }) =>
    controller.deref()?.abort((target as AbortSignal).reason)

const followers = new FinalizationRegistry<Follower>(({ signal, listener }) =>
  signal.deref()?.removeEventListener('abort', listener),
)
