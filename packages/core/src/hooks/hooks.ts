import { createManageHooks, type ManageHooksDeps } from './manage-hooks.ts'
import { createReceiveHook } from './receive-hook.ts'

export type HooksDeps = Omit<ManageHooksDeps, 'receiveHook'>

export type ReceivingHooks = ReturnType<typeof createHooks>

/** Wires the use cases of hooks, which receive requests of other services. */
export function createHooks(deps: HooksDeps) {
  const receiveHook = createReceiveHook(deps)
  return { receiveHook, manageHooks: createManageHooks({ ...deps, receiveHook }) }
}
