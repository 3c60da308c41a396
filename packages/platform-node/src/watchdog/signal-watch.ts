import { constants } from 'node:os'
import process from 'node:process'

interface SignalHandle {
  onsignal: () => void
  start(signal: number): number
}

/**
 * Calls `onSignal` on this thread for signals that the process receives; the listeners of the main thread fire too.
 * Node.js delivers signals only to the main thread, so this uses its internal handle. Without that handle, which the
 * thread's flag `--expose-internals` makes available, no signal is reported.
 */
export function watchSignals(onSignal: () => void): void {
  try {
    const { internalBinding } = builtin('internal/test/binding')
    const { Signal } = internalBinding('signal_wrap')
    for (const signal of [constants.signals.SIGTERM, constants.signals.SIGINT]) {
      const handle: SignalHandle = new Signal()
      handle.onsignal = onSignal
      handle.start(signal)
    }
  } catch {
    // The event loop still handles signals; only a blocked one does not.
  }
}

interface InternalModule {
  internalBinding(name: 'signal_wrap'): { readonly Signal: new () => SignalHandle }
}

const builtin = (name: string): InternalModule =>
  (process.getBuiltinModule as unknown as (id: string) => InternalModule)(name)
