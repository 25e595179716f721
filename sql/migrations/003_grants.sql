-- Who may do what. Specifications are never updated: only the columns of a state are granted.

do $$
begin
    execute format('grant temporary on database %I to kroo_coordinator', current_database());
    execute format('grant connect on database %I to kroo_coordinator, kroo_trainer, kroo_reader', current_database());
end
$$;
set local role kroo_owner;
set local search_path = kroo, pg_temp;

revoke all on schema kroo from public;
revoke all on all tables in schema kroo from public;
revoke all on all functions in schema kroo from public;
grant usage on schema kroo to kroo_coordinator, kroo_trainer, kroo_reader;
grant select on all tables in schema kroo to kroo_coordinator, kroo_trainer, kroo_reader;
grant execute on function counters_recompute(bigint), verify_counters(bigint) to kroo_coordinator, kroo_trainer,
    kroo_reader;

grant execute on function game_partition_create(bigint),
    game_content_sha256(text, bytea, text, text, smallint, smallint, boolean) to kroo_coordinator;
grant insert on engine_build, artifact, weights, player, experiment, experiment_counter, session, lease, game, dispute,
    dispute_run, verdict, promotion, event, peer to kroo_coordinator;
grant update (state, state_reason, ended_at, priority) on experiment to kroo_coordinator;
grant update (games_stored, prefix_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses, llr, updated_at)
    on experiment_counter to kroo_coordinator;
grant update (ended_at) on session to kroo_coordinator;
grant update (state, ended_at) on lease to kroo_coordinator;
grant update (state, settled_at, settlement) on dispute to kroo_coordinator;
grant update (name, role, allowed_at, allowed_by, revoked_at, revoked_by) on peer to kroo_coordinator;

grant insert on artifact, weights, training_run to kroo_trainer;
