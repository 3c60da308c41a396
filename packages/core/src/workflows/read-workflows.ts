import type { Page, PageQuery } from '@berth/ports'
import type { WorkflowRegistry } from '../runs/target-registry.ts'
import { pageOfTargets, type TargetResource, toTargetResource } from '../runs/target-resource.ts'

/** Reads of registered workflows for the API. @throws AppError `workflow-not-found` */
export interface ReadWorkflows {
  list(page: PageQuery): Page<TargetResource>
  get(workflowId: string): TargetResource
}

export const createReadWorkflows = ({ workflows }: { readonly workflows: WorkflowRegistry }): ReadWorkflows => ({
  list: (page) => pageOfTargets(workflows.list(), page),
  get: (workflowId) => toTargetResource(workflows.get(workflowId)),
})
