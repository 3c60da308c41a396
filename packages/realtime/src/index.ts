export { type FollowDeps, type FollowOptions, followEvents } from './follow.ts'
export { createRunStreams, type OpenRunStreamRequest, type RunStreams, type RunStreamsDeps } from './run-streams.ts'
