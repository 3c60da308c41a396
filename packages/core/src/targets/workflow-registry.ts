import { createRegistry, type TargetRegistry } from './target-registry.ts'
import type { WorkflowRegistration } from './workflow.ts'

export type WorkflowRegistry = TargetRegistry<WorkflowRegistration>

export const createWorkflowRegistry = (): WorkflowRegistry =>
  createRegistry<WorkflowRegistration>({
    kind: 'workflow',
    notFound: 'workflow-not-found',
  })
