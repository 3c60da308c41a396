import type { CreateStage } from './stage.ts'

/** Lets nothing be done that could not be recorded. */
export const createAudit: CreateStage =
  ({ admit }) =>
  ({ route }) => {
    if (route === undefined) return undefined
    const { privileged, scope } = route.mounted.operation
    return admit?.({ isPrivileged: privileged === true, isPublic: scope === null }).then(() => undefined)
  }
