import { useState } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import { failureOf } from '../client/failure.ts'

/** Runs one change at a time and reports what came of it. */
export function useAction() {
  const { notify } = useApp()
  const [isBusy, setBusy] = useState(false)
  const act = async (done: string, work: () => Promise<unknown>) => {
    if (isBusy) return
    setBusy(true)
    try {
      await work()
      notify(done)
    } catch (error) {
      const { message, hint } = failureOf(error)
      notify(hint === undefined ? message : `${message}: ${hint}`, 'failed')
    }
    setBusy(false)
  }
  return { isBusy, act }
}
