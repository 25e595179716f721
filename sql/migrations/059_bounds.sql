-- Absurd numbers of what many experiments are made from are refused here too, whoever writes.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

alter table tournament add constraint tournament_planned_rounds_most check (planned_rounds <= 100000);
alter table tournament_pairing add constraint tournament_pairing_pairs_most check (pairs <= 1000000000);
alter table learning_loop add constraint learning_loop_planned_most check (planned_generations <= 10000);
