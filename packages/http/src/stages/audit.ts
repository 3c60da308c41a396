import type { CreateStage } from './stage.ts'

/** Lets nothing be done that could not be recorded. */
export const createAudit: CreateStage =
  ({ admit }) =>
  async ({ route }) => {
    if (route === undefined) return undefined
    const { privileged, scope } = route.mounted.operation
    await admit?.({ isPrivileged: privileged === true, isPublic: scope === null })
    return undefined
  }
